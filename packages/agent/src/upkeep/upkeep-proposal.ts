import { memoryLine } from '@parley/workspace';
import { z } from 'zod';

/** A line of a note that should last. */
export interface ProposedAddition {
  /** The id of a note's line. */
  readonly note: string;
  readonly why: string;
}

/** An item of MEMORY.md that should go. */
export interface ProposedRemoval {
  /** The id of an item. */
  readonly line: string;
  readonly why: string;
  /** The item that says the same and stays. */
  readonly same?: string | undefined;
}

/** What a model proposes. It points at lines and writes none: no word of its own gets into MEMORY.md. */
export interface UpkeepProposal {
  readonly add: readonly ProposedAddition[];
  readonly remove: readonly ProposedRemoval[];
}

const MOST = 200;
const Id = z.union([z.string(), z.number()]).transform((id) => String(id).trim().toUpperCase());
const Why = z
  .string()
  .default('')
  .transform((why) => memoryLine(why).slice(0, MOST));
const Addition = z.object({ note: Id, why: Why });
const Removal = z.object({
  line: Id,
  why: Why,
  same: Id.nullish().transform((id) => id ?? undefined),
});
const Proposal = z.object({
  add: z.array(z.unknown()).default([]),
  remove: z.array(z.unknown()).default([]),
});

/** Reads the JSON in what a model said; entries that are no good are left out. Null: it proposed nothing. */
export function readProposal(said: string): UpkeepProposal | null {
  const json = said.slice(said.indexOf('{'), said.lastIndexOf('}') + 1);
  const parsed = Proposal.safeParse(parsedJson(json));
  if (!parsed.success) return null;
  const good = <T>(schema: z.ZodType<T>, all: readonly unknown[]): readonly T[] =>
    all.slice(0, MOST).flatMap((one) => {
      const read = schema.safeParse(one);
      return read.success ? [read.data] : [];
    });
  return { add: good(Addition, parsed.data.add), remove: good(Removal, parsed.data.remove) };
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The caller says that there is no proposal.
  }
}
