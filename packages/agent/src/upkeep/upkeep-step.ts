import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { NoteLine } from './note-lines.ts';

const Line = z.object({ id: z.string(), date: z.string(), text: z.string() });
const Step = z.object({ basis: z.string(), notes: z.array(Line), said: z.string() });

/** What the journal keeps of a proposal, so that a later run goes on with it (G16). */
export interface UpkeepStep {
  /** `fingerprintOf` the MEMORY.md that was shown. */
  readonly basis: string;
  /** The lines of notes that were shown. */
  readonly notes: readonly NoteLine[];
  /** The model's answer. */
  readonly said: string;
}

/** The step as the text of an answer. */
export function writeStep(step: UpkeepStep): string {
  return JSON.stringify(step);
}

/** Reads it back. Throws ZodError or SyntaxError for what another version wrote. */
export function readStep(text: string): UpkeepStep {
  return Step.parse(JSON.parse(text));
}

/** The same for the same text; null: there is no file. */
export function fingerprintOf(memory: string | null): string {
  return memory === null ? 'none' : createHash('sha256').update(memory).digest('hex');
}
