// The table that the Go constructors are tested with drives these too.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import * as answers from "../dist/answers.js";

const table = JSON.parse(readFileSync(new URL("../../tools/requests/testdata/answers.json", import.meta.url), "utf8"));
const by = { name: table.by, at: new Date(table.at) };

const construct = {
  permission: (r, data) => answers.answerPermission(r, data, by),
  approval: (r, data) => answers.answerApproval(r, data, by),
  input: (r, data) => answers.answerInput(r, data, by),
  authorization: (r) => answers.answerAuthorization(r, by),
  decline: (r, reason) => answers.decline(r, reason, by),
};

const constructorOf = {
  permission: "answerPermission",
  approval: "answerApproval",
  input: "answerInput",
  authorization: "answerAuthorization",
};

/** The sorted codes of a refusal, each once. */
function codes(f) {
  try {
    f();
    return [];
  } catch (e) {
    assert.ok(e instanceof answers.AnswerRefusedError, e);
    return [...new Set(e.problems.map((p) => p.code))].sort();
  }
}

for (const c of table.constructors) {
  test(`constructor: ${c.name}`, () => {
    const request = table.requests[c.request];
    const make = () => construct[c.constructor](request, c.data);
    if (c.refused) {
      assert.deepEqual(codes(make), c.refused);
      assert.throws(make, { message: new RegExp(`with ${constructorOf[request.kind]}$`) });
      return;
    }
    // The same bytes as Go's, but for white space.
    assert.equal(JSON.stringify(make()), JSON.stringify(c.answer));
  });
}

for (const c of table.checks) {
  test(`check: ${c.name}`, () => {
    assert.deepEqual(
      codes(() => answers.checkAnswer(table.requests[c.request], c.answer)),
      c.codes,
    );
  });
}

for (const c of table.complete) {
  test(`complete: ${c.name}`, () => {
    const outstanding = c.outstanding.map((name) => table.requests[name]);
    const complete = () => answers.completeAnswers(outstanding, c.given, by);
    if (!c.error) {
      assert.deepEqual(complete(), c.answers);
      return;
    }
    assert.throws(complete, (e) => (e instanceof answers.AnswerRefusedError ? "refused" : e.reason) === c.error);
  });
}

for (const c of table.texts) {
  test(`text: ${c.status} ${JSON.stringify(c.prompt)}`, () => {
    assert.equal(answers.outcomeText(c.status, c.prompt), c.text);
  });
}

test("every constructor and every list of the table was used", () => {
  const used = new Set(table.constructors.map((c) => c.constructor));
  assert.deepEqual([...used].sort(), Object.keys(construct).sort());
  assert.ok(table.checks.length > 5 && table.complete.length > 5 && table.texts.length > 3);
});

test("the example of docs/REQUESTS.md", async () => {
  const document = readFileSync(new URL("../../docs/REQUESTS.md", import.meta.url), "utf8");
  const [, code] = document.split("```ts\n");
  const body = code.split("```")[0].replace(/^import .*;\n/, "");
  const printed = [];
  const run = new Function("request", "other", "console", ...Object.keys(answers), body);
  run(table.requests.input, table.requests.input_second, { log: (text) => printed.push(text) }, ...Object.values(answers));
  assert.deepEqual(printed, ["answered unresolved", "/data/value /data/output"]);
});
