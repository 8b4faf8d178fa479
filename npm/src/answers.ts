/**
 * Answers to the questions of agent-contracts, made by typed constructors, so
 * that nobody has to spell a key by hand. A Request is a file that
 * `agent-contracts review show --format json` prints; an Answer is what
 * `agent-contracts review answer --answers FILE` takes. The rules are those of
 * the Go package tools/requests, and one table of vectors drives the tests of
 * both (tools/requests/testdata/answers.json).
 */
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import formats from "ajv-formats";

/** What is asked for: leave to use a tool, a yes or no, a value, a sign-in elsewhere. */
export type Kind = "permission" | "approval" | "input" | "authorization";

/** What became of a Request. */
export type Status = "answered" | "declined" | "expired" | "unresolved";

/** A question that a step of a run cannot go on without (schemas/request.schema.json). */
export interface Request {
  schema_version: 1;
  id: string;
  run: string;
  step: string;
  ordinal: number;
  kind: Kind;
  prompt: string;
  /** JSON Schema, draft 2020-12, of the Answer's data. */
  data_schema: Record<string, unknown>;
  created_at: string;
  expires_at: string | null;
  wire_id?: string | null;
  agent?: string;
  subject?: string | null;
  raw?: boolean;
  extensions?: Record<string, unknown>;
}

/** A person's reply to one Request (schemas/answer.schema.json). */
export interface Answer {
  schema_version: 1;
  request_id: string;
  kind: Kind;
  status: Status;
  /** Only for an answered Request. */
  data?: Record<string, unknown>;
  reason?: string;
  answered_at: string;
  answered_by: string;
  extensions?: Record<string, unknown>;
}

/** Who answers, and when; now unless said otherwise. */
export interface By {
  name: string;
  at?: Date;
}

/** `granted` decides; `scope` says how far that goes, absent for once if that is offered. */
export interface Permission {
  granted: boolean;
  scope?: "once" | "always";
}

export interface Approval {
  approved: boolean;
  comment?: string;
}

/** One way in which an answer does not fit. Codes are those of `agent-contracts explain`. */
export interface Problem {
  code: string;
  pointer: string;
  message: string;
}

const constructors: Record<Kind, string> = {
  permission: "answerPermission",
  approval: "answerApproval",
  input: "answerInput",
  authorization: "answerAuthorization",
};

/** An answer does not fit its Request. Its message names the constructor whose answer would. */
export class AnswerRefusedError extends Error {
  override readonly name = "AnswerRefusedError";

  constructor(
    readonly request: Request,
    readonly problems: readonly Problem[],
  ) {
    const why = problems.map((p) => (p.pointer === "" ? p.message : `${p.pointer}: ${p.message}`)).join("; ");
    super(
      `this does not answer request ${short(request.id)} of kind ${request.kind} (${why}): make the answer with ${constructors[request.kind]}`,
    );
  }
}

/** Why several answers are refused together. */
export class AnswersRefusedError extends Error {
  override readonly name = "AnswersRefusedError";

  constructor(
    readonly reason: "no_answer" | "not_outstanding" | "twice",
    message: string,
  ) {
    super(message);
  }
}

/** Answers a permission Request. */
export function answerPermission(request: Request, data: Permission, by: By): Answer {
  return answered(request, "permission", { ...data }, by);
}

/** Answers an approval Request. */
export function answerApproval(request: Request, data: Approval, by: By): Answer {
  return answered(request, "approval", { ...data }, by);
}

/** Answers an input Request with data as its data_schema asks for; the step gets it as it is. */
export function answerInput(request: Request, data: Record<string, unknown>, by: By): Answer {
  return answered(request, "input", data, by);
}

/** Says that the sign-in which a Request asks for is done. The answer holds no credential. */
export function answerAuthorization(request: Request, by: By): Answer {
  return answered(request, "authorization", { authorized: true }, by);
}

/** Answers a Request of any kind with a no that carries no data. */
export function decline(request: Request, reason: string, by: By): Answer {
  const answer = blank(request, request.kind, "declined", by);
  if (reason !== "") answer.reason = reason;
  return ordered(check(request, answer));
}

/** Throws an AnswerRefusedError unless the answer fits the Request. Nothing is coerced. */
export function checkAnswer(request: Request, answer: Answer): void {
  check(request, answer);
}

/**
 * Returns one answer for each of the outstanding Requests of a step, in their
 * order. What was left out is unresolved, but only when at least one of the
 * given answers holds recognised data.
 */
export function completeAnswers(outstanding: readonly Request[], given: readonly Answer[], by: By): Answer[] {
  const found = new Map<string, Answer>();
  for (const answer of given) {
    const request = outstanding.find((r) => r.id === answer.request_id);
    if (request === undefined) {
      throw new AnswersRefusedError("not_outstanding", `request ${short(answer.request_id)} is not outstanding: its answer was refused, and the others with it`);
    }
    if (found.has(request.id)) {
      throw new AnswersRefusedError("twice", `request ${short(request.id)} is answered twice: all answers were refused`);
    }
    found.set(request.id, check(request, answer));
  }
  const recognised = given.some((a) => a.status === "answered");
  return outstanding.map((request) => {
    const answer = found.get(request.id);
    if (answer !== undefined) return answer;
    if (!recognised) {
      const wanted = outstanding.map((r) => `${short(r.id)} wants ${constructors[r.kind]}`).join(", ");
      throw new AnswersRefusedError("no_answer", `no answer holds data for any of the requests: ${wanted}`);
    }
    return blank(request, request.kind, "unresolved", by);
  });
}

/** What an agent or a caller is told about a Request that got no data, word for word; "" for an answered one. */
export function outcomeText(status: Status, prompt: string): string {
  switch (status) {
    case "declined":
    case "expired":
      return `declined/expired: ${prompt}`;
    case "unresolved":
      return `unresolved: ${prompt}`;
    case "answered":
      return "";
  }
}

function answered(request: Request, kind: Kind, data: Record<string, unknown>, by: By): Answer {
  return ordered(check(request, { ...blank(request, kind, "answered", by), data }));
}

function blank(request: Request, kind: Kind, status: Status, by: By): Answer {
  return {
    schema_version: 1,
    request_id: request.id,
    kind,
    status,
    answered_at: (by.at ?? new Date()).toISOString(),
    answered_by: by.name,
  };
}

/** The members in the order of the stored form. */
function ordered(a: Answer): Answer {
  const { schema_version, request_id, kind, status, data, reason, answered_at, answered_by } = a;
  return {
    schema_version,
    request_id,
    kind,
    status,
    ...(data === undefined ? {} : { data }),
    ...(reason === undefined ? {} : { reason }),
    answered_at,
    answered_by,
  };
}

function check(request: Request, answer: Answer): Answer {
  const problems = recordProblems(answer);
  if (problems.length === 0) problems.push(...fitProblems(request, answer));
  if (problems.length > 0) throw new AnswerRefusedError(request, problems);
  return answer;
}

/** What is wrong with an answer whatever it answers. */
function recordProblems(answer: Answer): Problem[] {
  const problems: Problem[] = [];
  const { data, status } = answer;
  if (data !== undefined && (typeof data !== "object" || data === null || Array.isArray(data))) {
    problems.push({ code: "SCHEMA-TYPE", pointer: "/data", message: "want object" });
  } else if (status === "answered" && data === undefined) {
    problems.push({ code: "ANS-DATA-MISSING", pointer: "/data", message: "an answered request needs data" });
  } else if (status !== "answered" && data !== undefined) {
    problems.push({ code: "ANS-DATA-UNEXPECTED", pointer: "/data", message: `a request that was ${status} has no data` });
  }
  if (typeof answer.answered_by !== "string" || answer.answered_by === "") {
    problems.push({ code: "SCHEMA-RANGE", pointer: "/answered_by", message: "must not be empty" });
  }
  return problems;
}

function fitProblems(request: Request, answer: Answer): Problem[] {
  if (answer.request_id !== request.id) {
    const message = `the answer is for ${short(answer.request_id)}, the request is ${short(request.id)}`;
    return [{ code: "ANS-REQUEST", pointer: "/request_id", message }];
  }
  const problems: Problem[] = [];
  if (answer.kind !== request.kind) {
    const message = `the answer is of kind "${answer.kind}", the request of kind ${request.kind}`;
    problems.push({ code: "ANS-KIND", pointer: "/kind", message });
  }
  if (answer.status === "answered") problems.push(...dataProblems(request.data_schema, answer.data));
  return problems;
}

function dataProblems(schema: Record<string, unknown>, data: unknown): Problem[] {
  try {
    const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
    formats.default(ajv);
    const validate = ajv.compile(schema);
    return validate(data) ? [] : (validate.errors ?? []).map(dataProblem);
  } catch (e) {
    const message = `the request's data_schema does not compile: ${e instanceof Error ? e.message : String(e)}`;
    return [{ code: "REQ-DATA-SCHEMA", pointer: "", message }];
  }
}

function dataProblem(e: ErrorObject): Problem {
  const member = e.params["additionalProperty"] ?? e.params["missingProperty"];
  const name = typeof member === "string" ? "/" + member.replaceAll("~", "~0").replaceAll("/", "~1") : "";
  return { code: "ANS-DATA", pointer: "/data" + e.instancePath + name, message: e.message ?? "does not fit the data_schema" };
}

/** An id as people read it. */
function short(id: string): string {
  return id.slice(0, "sha256:".length + 12);
}
