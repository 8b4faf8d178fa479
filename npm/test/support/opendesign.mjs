// What stands in for OpenDesign in the tests: its readings, looked up by bytes
// in the package's files, past the functions under test.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { dataDir } from "@open-design/agent-cli-contracts";

const read = (place) => readFileSync(join(dataDir(), place), "utf8");
const byAgent = new Map();

/** OpenDesign's events by the bytes of a fixture, from the goldens that an agent's observations name. */
export function knownReadings(agent, protocolFamily) {
  const key = `${agent} ${protocolFamily}`;
  if (byAgent.has(key)) return byAgent.get(key);
  const readings = new Map();
  const walk = (dir) => {
    for (const e of readdirSync(join(dataDir(), dir), { withFileTypes: true })) {
      if (e.isDirectory()) walk(`${dir}/${e.name}`);
      else add(JSON.parse(read(`${dir}/${e.name}`)));
    }
  };
  const add = (o) => {
    if (o.protocol_family !== protocolFamily || !o.parser_replay.golden) return;
    const golden = JSON.parse(read(o.parser_replay.golden));
    readings.set(read(o.extensions.fixture), golden.events);
  };
  walk(`observations/${agent}`);
  byAgent.set(key, readings);
  return readings;
}

/** OpenDesign's classification, as the case records it for the pinned consumer. */
export function replayAndClassify(errorCase) {
  if (!Array.isArray(errorCase.classifier_input.events)) throw new TypeError("no events to classify");
  return errorCase.extensions.consumers["open-design@0.19.2"];
}
