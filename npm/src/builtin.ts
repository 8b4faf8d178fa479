/**
 * Node's own modules, asked for where they are needed: an import statement for
 * each costs every program that starts with this package a millisecond or more.
 */
export const fs = () => process.getBuiltinModule("node:fs");
export const crypto = () => process.getBuiltinModule("node:crypto");
export const stream = () => process.getBuiltinModule("node:stream");
/** The class that emits events, for a class to extend. */
export const eventEmitter = () => process.getBuiltinModule("node:events").EventEmitter;
export const join = (...parts: string[]) => process.getBuiltinModule("node:path").join(...parts);
export const isAbsolute = (path: string) => process.getBuiltinModule("node:path").isAbsolute(path);
export const fileURLToPath = (url: URL) => process.getBuiltinModule("node:url").fileURLToPath(url);
