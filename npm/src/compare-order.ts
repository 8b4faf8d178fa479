/** How the order of the kinds that both shapes have differs. */
import type { Frame, Pair } from "./compare-kinds.js";
import type { Add } from "./compare-rules.js";
import type { Seq } from "./schemas/shape.js";

/** A sequence over the kinds that both shapes have. */
class Flat {
  /** The kinds' numbers, with -1 and -2 around repeats. */
  readonly all: number[] = [];
  /** Kinds by first appearance. */
  readonly firsts: number[] = [];
  overlap = false;
  private readonly counts = new Map<number, number>();

  constructor(
    private readonly frames: Frame[],
    private readonly numbers: Map<Frame, number>,
    sequence: readonly Seq[],
  ) {
    this.add(sequence, 1);
  }

  private add(sequence: readonly Seq[], weight: number): void {
    for (const s of sequence) {
      if (Array.isArray(s)) {
        const from = this.all.push(-1);
        this.add(s, 2);
        // Only kinds that the other shape lacks.
        if (this.all.length === from) this.all.pop();
        else this.all.push(-2);
      } else if (typeof s === "string") {
        this.overlap ||= s === "overlap";
      } else {
        this.one(this.frames[s], weight);
      }
    }
  }

  private one(f: Frame | undefined, weight: number): void {
    const n = f && this.numbers.get(f);
    if (n === undefined) return;
    const count = this.counts.get(n) ?? 0;
    if (count === 0) this.firsts.push(n);
    this.counts.set(n, count + weight);
    this.all.push(n);
  }

  /** How often a kind comes; "" for one without a place in the order. */
  count(n: number): string {
    const c = this.counts.get(n) ?? 0;
    return c === 0 ? "" : c === 1 ? "once" : "several";
  }
}

/** Compares the order of the kinds that both shapes have. */
export function orderSignals(as: Frame[], bs: Frame[], pairs: Pair[], seqA: readonly Seq[], seqB: readonly Seq[], add: Add): void {
  const numbers = new Map<Frame, number>(); // one number for the two frames of a pair
  pairs.forEach((p, i) => numbers.set(p.a, i + 1).set(p.b, i + 1));
  const [a, b] = [new Flat(as, numbers, seqA), new Flat(bs, numbers, seqB)];
  const words = (overlap: boolean) => (overlap ? "parallel" : "serial");
  if (a.overlap !== b.overlap) add({ id: "concurrency_changed", from: words(a.overlap), to: words(b.overlap) });
  let same = true;
  pairs.forEach(({ b: f }, i) => {
    const [from, to] = [a.count(i + 1), b.count(i + 1)];
    if (from === to || f.streamed || from === "" || to === "") return;
    same = false;
    add({ id: "cardinality_changed", event_type: f.shape.event_type, kind: f.label, from, to });
  });
  const moved = outOfPlace(a.firsts, b.firsts);
  for (const n of moved) {
    const f = pairs[n - 1]?.b;
    if (f !== undefined) add({ id: f.terminal ? "terminal_moved" : "order_changed", event_type: f.shape.event_type, kind: f.label });
  }
  const equal = a.all.length === b.all.length && a.all.every((n, i) => n === b.all[i]);
  if (moved.length === 0 && same && !equal) add({ id: "order_changed" });
}

/** Bounds the work of outOfPlace; more kinds than it allows are a stream made for the purpose. */
const maxTable = 1 << 22;

/** The kinds of b that are not part of a longest common order of a and b. */
function outOfPlace(a: readonly number[], b: readonly number[]): number[] {
  if (a.length * b.length > maxTable) return [];
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  const at = (i: number, j: number) => table[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) (table[i] ?? [])[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const out: number[] = [];
  for (let i = 0, j = 0; j < b.length; ) {
    const n = b[j] as number;
    if (i < a.length && a[i] === n) {
      i++;
      j++;
    } else if (i < a.length && at(i + 1, j) >= at(i, j + 1)) {
      i++;
    } else {
      out.push(n);
      j++;
    }
  }
  return out;
}
