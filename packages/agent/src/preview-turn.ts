import type { AssembledPrompt, HeartbeatNote, PromptContext, PromptMode } from '@parley/prompt';
import type { ClaimedTurn } from '@parley/store';
import { textOf } from './history.ts';
import { checkedRequest } from './loop/checked-request.ts';
import { type HookDeps, runBefore } from './turn-hooks.ts';
import { openTurn } from './turn-opening.ts';
import { type TurnPromptDeps, turnPrompt } from './turn-prompt.ts';

/** What is tried out besides who writes where. */
export interface PreviewChange {
  readonly mode?: PromptMode | undefined;
  /** As if the standing tasks were looked after, not a message answered. */
  readonly heartbeat?: boolean | undefined;
}

/** What a preview is made from: what a turn is, without what it writes to. */
export type PreviewDeps = Omit<TurnPromptDeps, 'store'> & HookDeps;

/**
 * The prompt that a turn would send (P17), made by what makes those of real turns: hooks, sources,
 * layers and the last check. It belongs to no session, so that nothing is fixed, begun or put away.
 */
export async function previewTurn(
  turn: ClaimedTurn,
  change: PreviewChange,
  deps: PreviewDeps,
): Promise<AssembledPrompt> {
  const words = textOf(turn.messages, () => []);
  const opened = await openTurn(turn, words, deps);
  const facts = { ...opened.facts, heartbeat: change.heartbeat === true };
  const additions = await runBefore(deps, { ...opened, facts }, new AbortController().signal);
  const prompt = await turnPrompt(turn, changed(deps, change), {
    opened: { ...opened, facts },
    additions,
  });
  const draft = {
    prompt,
    transcript: [],
    history: { entries: 0, tokens: 0 },
    now: { role: 'user', content: words },
    rounds: [],
    tools: { offered: [], tokens: 0 },
  } as const;
  return checkedRequest(draft, opened.reader, deps.log).prompt;
}

/** Sources and layers see no session; the rest is as in any turn. */
function changed(deps: PreviewDeps, { mode, heartbeat }: PreviewChange): TurnPromptDeps {
  return {
    ...deps,
    sources: deps.sources.map((source) => ({
      ...source,
      gather: ({ fix: _fix, ...turn }) => source.gather(turn),
    })),
    prompt: {
      assemble({ fix: _fix, ...context }: PromptContext, additions) {
        const task = context.heartbeat ?? SOME_TASK;
        return deps.prompt.assemble(
          {
            ...context,
            ...(mode !== undefined && { mode }),
            ...(heartbeat === true && { heartbeat: task }),
          },
          additions,
        );
      },
    },
    store: { pins: { fix: async (_place, _key, content) => content } },
  };
}

const SOME_TASK: HeartbeatNote = {
  task: 'example',
  instruction: 'An example of a standing task: look whether anything needs attention.',
  schedule: 'every 30 min',
};
