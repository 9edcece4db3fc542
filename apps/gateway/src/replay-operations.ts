import type { ReplayOutcome } from '@parley/agent/replay-outcome';
import { createRefusalError, defineChangeOperation, defineReadOperation } from '@parley/core';
import type { RecordedTurn, Store } from '@parley/store';
import { z } from 'zod';

/** How long a replay may take, in ms; the model is asked once for each step of the turn. */
const REPLAY_MS = 120_000;
/** The longest text of a file, in characters, and the most files of one replay. */
const MAX_FILE = 200_000;
const MAX_FILES = 20;

const Name = z.string().min(1).max(200);

const ReplayFields = {
  turn: z.string().min(1).max(200),
  model: Name.optional(),
  profile: Name.optional(),
  /** The new texts of workspace files, by name. */
  files: z
    .record(Name, z.string().max(MAX_FILE))
    .refine((files) => Object.keys(files).length <= MAX_FILES, `at most ${MAX_FILES} files`)
    .optional(),
  liveReads: z.boolean().optional(),
  dryRun: z.boolean().optional(),
};

type ReplayChoice = Omit<z.output<z.ZodObject<typeof ReplayFields>>, 'turn'>;

/** Replays a turn with one choice; null if nothing of it is known. */
export type ReplayTurn = (
  choice: ReplayChoice,
  turn: Pick<RecordedTurn, 'turnId' | 'conversationId'> & { readonly model: string },
  signal: AbortSignal,
) => Promise<ReplayOutcome | null>;

interface ReplayNeeds {
  readonly store: Pick<Store, 'recordedTurns' | 'prompts'>;
  replays(): Promise<ReplayTurn>;
  /** Lists what turns of the named agent can be replayed with; without a name, the default one. */
  replayChoices(agent: string | undefined): Promise<{
    /** The models in the settings, as `provider/model`; the first one is the agent's own. */
    readonly models: readonly string[];
    readonly profiles: readonly string[];
  }>;
}

/** Operations that run recorded turns again (G22). Only owners may see what they show. */
export const operations = {
  choices: defineReadOperation(
    'List the models and profiles with which turns of an agent can be replayed',
    {},
    ({ replayChoices }: ReplayNeeds, _, { agent }) => replayChoices(agent),
  ),
  turn: defineChangeOperation(
    'Run a recorded turn again, with another model, profile or file; only its cost is stored',
    ReplayFields,
    async ({ store, replays }: ReplayNeeds, { turn, ...choice }) => {
      const recorded =
        (await store.recordedTurns.ofTurn(turn)) ?? (await store.prompts.ofTurn(turn));
      if (recorded === null) throw createUnknownTurn(turn);
      const { conversationId, model } = recorded;
      const replay = await replays();
      const key = { turnId: turn, conversationId, model: model ?? '' };
      const outcome = await replay(choice, key, AbortSignal.timeout(REPLAY_MS));
      if (outcome === null) throw createUnknownTurn(turn);
      return outcome;
    },
  ),
};

function createUnknownTurn(turn: string) {
  return createRefusalError(
    'no-turn',
    `Nothing is kept of the turn ${JSON.stringify(turn)}. Prompts are kept for inspector.keepDays; choose a newer turn.`,
  );
}
