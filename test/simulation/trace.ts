import { createHash } from 'node:crypto';
import type { TableChange, TraceStep } from './changes.ts';

/**
 * All steps of a simulation that changed something, and a hash that is the same for two runs of a
 * seed.
 */
export class Trace {
  readonly steps: TraceStep[] = [];
  readonly #hash = createHash('sha256');

  add(step: TraceStep): void {
    this.steps.push(step);
    this.#hash.update(`${step.at.toFixed(2)} ${step.process} ${JSON.stringify(step.changes)}\n`);
  }

  /** The hash of all steps so far. */
  get hash(): string {
    return this.#hash.copy().digest('hex').slice(0, 16);
  }
}

/** Describes a step in one line. */
export function describeStep({ at, process, changes }: TraceStep): string {
  return `${(at / 1_000).toFixed(3)} s ${process}: ${changes.map(describeChange).join('; ')}`;
}

function describeChange(change: TableChange): string {
  const { kind, ...facts } = change;
  return `${kind} ${Object.values(facts).join(' ')}`;
}
