import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { turnPrompt } from '@parley/agent';
import type { Clock, Logger, SentPrompt } from '@parley/contracts';
import {
  type ContextSource,
  type PromptContext,
  type PromptMode,
  sentPromptOf,
} from '@parley/prompt';
import type { ClaimedTurn } from '@parley/store';
import { LOCAL_OWNERS } from '../local-owners.ts';
import { type OpenAgent, openAgent } from '../open-agent.ts';
import type { Surroundings } from '../open-skills.ts';
import type { LoadedSettings } from '../read-settings.ts';

type Settings = LoadedSettings['settings'];

/** What is tried out besides who writes where. */
export interface PreviewChange {
  readonly mode?: PromptMode | undefined;
  /** As if the standing tasks were looked after, not a message answered. */
  readonly heartbeat?: boolean | undefined;
}

/** A prompt that was not sent, and how it came about. */
export interface Preview {
  readonly prompt: SentPrompt;
  /** There is no workspace yet: the prompt was made from what a new one starts with. */
  readonly fromTemplates: boolean;
}

/**
 * The prompt of a turn that never was, made by what makes those of real turns: agent, sources,
 * assembler. Nothing is written but to a folder of its own, which is removed again.
 */
export async function previewPrompt(
  settings: Settings,
  turn: ClaimedTurn,
  change: PreviewChange,
  { clock, log, ...around }: { readonly clock: Clock; readonly log: Logger } & Surroundings,
): Promise<Preview> {
  const { workspace } = settings.agent;
  const fromTemplates = !existsSync(join(workspace, 'AGENTS.md'));
  const copy = fromTemplates ? copyOf(workspace) : null;
  try {
    const agent = { ...settings.agent, workspace: copy ?? workspace };
    const opened = await openAgent({ ...settings, agent }, log, around);
    const place = copy === null ? opened.place : { ...opened.place, workspace };
    const prompt = await turnPrompt(turn, {
      ...changed({ ...opened, place }, change),
      owners: [...settings.owners, ...LOCAL_OWNERS],
      // What a session has fixed belongs to that session; this one is new and leaves nothing behind.
      store: { pins: { fix: async (_place, _key, content) => content } },
      clock,
      log,
    });
    return { prompt: sentPromptOf(prompt), fromTemplates };
  } finally {
    if (copy !== null) rmSync(copy, { recursive: true, force: true });
  }
}

/** A folder to make a workspace in, with what the real one has already. */
function copyOf(workspace: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'parley-prompt-'));
  if (existsSync(workspace)) cpSync(workspace, copy, { recursive: true });
  return copy;
}

/** The turn itself knows nothing of the change: it is made where sources and layers look. */
function changed(
  { place, workspace, prompt, sources }: OpenAgent,
  { mode, heartbeat = false }: PreviewChange,
) {
  const factsOf = ({ facts }: Pick<PromptContext, 'facts'>) => ({ ...facts, heartbeat });
  const told: readonly ContextSource[] = sources.map((source) => ({
    id: source.id,
    // Without `fix`: a turn that never was begins and ends nothing.
    gather: ({ fix: _, ...turn }) => source.gather({ ...turn, facts: factsOf(turn) }),
  }));
  return {
    agent: place,
    workspace,
    sources: told,
    prompt: {
      assemble: (context: PromptContext) =>
        prompt.assemble({
          ...context,
          facts: factsOf(context),
          ...(mode !== undefined && { mode }),
          ...(heartbeat && { heartbeat: context.heartbeat ?? SOME_TASK }),
        }),
    },
  };
}

const SOME_TASK = {
  task: 'example',
  instruction: 'An example of a standing task: look whether anything needs attention.',
  schedule: 'every 30 min',
};
