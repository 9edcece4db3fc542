import { createCase, runCase, writeCase } from '@parley/agent/evals';
import { silentLogger } from '@parley/core';
import type { KeptCase } from '@parley/gateway';
import type { Store } from '@parley/store';
import { openRecordedTurn } from '../replay/open-replays.ts';
import type { Evaluation } from './open-evaluation.ts';

/** How long building the request may take, in ms; no model is asked. */
const KEEP_MS = 60_000;

/**
 * Keeps a recorded turn as a case, with the request that the code and the files of today build for
 * it. Throws CliError or ParleyError if the turn cannot be kept.
 */
export async function keepTurn(
  { agent, workspace, services, limits, toTurn }: Evaluation,
  store: Pick<Store, 'prompts' | 'recordedTurns' | 'attachments' | 'subAgents' | 'spend' | 'souls'>,
  { turn, name }: { readonly turn: string; readonly name: string },
): Promise<KeptCase> {
  const signal = AbortSignal.timeout(KEEP_MS);
  const recorded = await openRecordedTurn(agent, turn, { store, log: silentLogger }, signal);
  const value = createCase(recorded, limits);
  const claimed = await toTurn(value);
  const { prompt, problems } = await runCase(value, claimed, services, { model: null }, signal);
  const path = await writeCase(workspace, name, { ...value, prompt }, { replace: false });
  return { name, path, notes: problems.map((problem) => `Since that turn: ${problem}`) };
}

export function formatKeptCase({ path, notes }: KeptCase): string {
  return [
    `Kept as ${path}. It contains private text; only owners can read it.`,
    ...notes,
    'Add checks for what the answer must say, and run "parley eval".',
  ].join('\n');
}
