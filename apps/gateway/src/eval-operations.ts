import { defineChangeOperation } from '@parley/core';
import { z } from 'zod';

/** A turn that was kept as a case; `notes` says what has changed in the request since the turn. */
export interface KeptCase {
  readonly name: string;
  readonly path: string;
  readonly notes: readonly string[];
}

/** Keeps a turn of the named agent as a case; without a name, of the default agent. */
export type KeepCase = (
  agent: string | undefined,
  order: { readonly turn: string; readonly name: string },
) => Promise<KeptCase>;

interface EvalNeeds {
  readonly keepCase: KeepCase;
}

/** Operations on the cases of evaluations (G22), which contain private text. */
export const operations = {
  keep: defineChangeOperation(
    'Keep a recorded turn as the case evals/NAME.yaml in the workspace',
    { turn: z.string().min(1).max(200), name: z.string().min(1).max(80) },
    ({ keepCase }: EvalNeeds, order, { agent }) => keepCase(agent, order),
  ),
};
