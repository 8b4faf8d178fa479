/**
 * Which version of which coding-agent CLI speaks what protocol, with evidence,
 * and what a consumer's tests need of it. The default export has every function
 * by its name, as the specification's listings want it; who imports by name
 * gets only what is used.
 */
import * as compact from "./compact.js";
import { createInstrumentedChildFromTranscript } from "./child.js";
import { daemonRunShapes, errorCases, supportedShapes } from "./contracts.js";
import { migrations, Migrations, SCHEMA_VERSION } from "./migrate.js";
import { Registry } from "./registry.js";

export * from "./compact.js";
export { createInstrumentedChildFromTranscript, EXIT_HOST, InstrumentedChild, StdinViolation } from "./child.js";
export type { ChildOptions } from "./child.js";
export { compareShapes, spellSignal } from "./compare.js";
export type { CompareDialect, Comparison, RuleId, Severity, Signal } from "./compare.js";
export { CONSUMER, daemonRunShapes, errorCases, supportedShapes } from "./contracts.js";
export type { ContractFilter, ErrorCaseFilter } from "./contracts.js";
export {
  awaitRuns,
  CONTRACT_VERSION,
  ContractVersionError,
  endingOf,
  InstallationError,
  MachineClient,
  RefusedError,
  TransportError,
} from "./machine.js";
export type { Available, CallOptions, Ending, Handshake, Resolution, SeenRun, WaitPolicy } from "./machine.js";
export { migrations, Migrations, SCHEMA_VERSION, SchemaVersionError } from "./migrate.js";
export type { Migration } from "./migrate.js";
export { dataDir, Registry } from "./registry.js";
export { exitOf, lineOf, linesOf, parseTranscript } from "./transcript.js";
export type { TranscriptRecord } from "./transcript.js";
export type * from "./records.js";
export type { ErrorCase } from "./schemas/error-case.js";
export type { Evidence as EvidenceRecord } from "./schemas/evidence.js";
export type { Observation } from "./schemas/observation.js";
export type { Policy } from "./schemas/policy.js";
export type { Shape } from "./schemas/shape.js";
export type { SourceEvidence } from "./schemas/source-evidence.js";
export type { SupportMatrix } from "./schemas/support-matrix.js";

/** Every function of the package. */
const contracts = {
  supportedShapes,
  errorCases,
  daemonRunShapes,
  createInstrumentedChildFromTranscript,
  findSupportEntry: compact.findSupportEntry,
  isOlderThanMinSupported: compact.isOlderThanMinSupported,
  isKnownBreaking: compact.isKnownBreaking,
  isNewerThanLatestVerified: compact.isNewerThanLatestVerified,
  classify: compact.classify,
  classifyInstalledCli: compact.classifyInstalledCli,
  compatibility: compact.compatibility,
  compatibilityExamples: compact.compatibilityExamples,
  checkCoverage: compact.checkCoverage,
  Registry,
  Migrations,
  migrations,
  SCHEMA_VERSION,
};

export default contracts;
