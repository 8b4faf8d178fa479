/** Checks of the package against itself; apart, so that who only asks does not load them. */
export { deriveMatrix } from "./derive.js";
export type { DerivedEntry, DerivedMatrix, Records } from "./derive.js";
export { canonical, digest, recordsOf, verifyRecords } from "./verify.js";
export type { Verification } from "./verify.js";
export { dataDir, Registry } from "./registry.js";
export { MANIFEST, parseManifest, signedBy, verifyManifest } from "./manifest.js";
export type { Manifest, ManifestCheck, ManifestOptions } from "./manifest.js";
export { compareShapes } from "./compare.js";
export type { Comparison, Signal } from "./compare.js";
export { replayThrough } from "./replay.js";
export type { Replayed } from "./replay.js";
