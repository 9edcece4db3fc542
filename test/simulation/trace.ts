import { createHash } from 'node:crypto';
import type { Change, Step } from './changes.ts';

/** All steps of a simulation that changed something, and a hash that two runs of a seed have in common. */
export class Trace {
  readonly steps: Step[] = [];
  readonly #hash = createHash('sha256');

  add(step: Step): void {
    this.steps.push(step);
    this.#hash.update(`${step.at.toFixed(2)} ${step.process} ${JSON.stringify(step.changes)}\n`);
  }

  /** Of all steps so far. */
  get hash(): string {
    return this.#hash.copy().digest('hex').slice(0, 16);
  }
}

/** A step in a line, for people. */
export function describeStep({ at, process, changes }: Step): string {
  return `${(at / 1_000).toFixed(3)} s ${process}: ${changes.map(describeChange).join('; ')}`;
}

function describeChange(change: Change): string {
  const { kind, ...facts } = change;
  return `${kind} ${Object.values(facts).join(' ')}`;
}
