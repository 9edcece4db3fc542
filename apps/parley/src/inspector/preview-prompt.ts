import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PreviewChange, previewTurn } from '@parley/agent';
import type { Clock, Logger, SentPrompt } from '@parley/contracts';
import { sentPromptOf } from '@parley/prompt';
import type { ClaimedTurn } from '@parley/store';
import type { GovernedFile } from '@parley/workspace';
import { approvalsOf, LOCAL_OWNERS } from '../access.ts';
import type { Surroundings } from '../agent-sources.ts';
import { type OpenAgentOptions, openAgent } from '../open-agent.ts';
import type { AgentPlugins } from '../plug-in.ts';
import type { LoadedSettings } from '../settings.ts';

/** A prompt that was not sent, and how it came about. */
export interface Preview {
  readonly prompt: SentPrompt;
  /** There is no workspace yet: the prompt was made from what a new one starts with. */
  readonly fromTemplates: boolean;
}

/** What the agent of a preview is opened with, as that of a running Parley is. */
export interface PreviewDeps extends Surroundings {
  readonly plugins: AgentPlugins;
  /** What SOUL.md says in turns, whatever stands in the file (W06). */
  readonly soul?: GovernedFile;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * The prompt of a turn that never was, by the agent of this installation. Nothing is written but, where
 * there is no workspace, to a folder of its own, which is removed again.
 */
export async function previewPrompt(
  settings: LoadedSettings['settings'],
  turn: ClaimedTurn,
  change: PreviewChange,
  { plugins, soul, clock, log, ...around }: PreviewDeps,
): Promise<Preview> {
  const { workspace } = settings.agent;
  const fromTemplates = !existsSync(join(workspace, 'AGENTS.md'));
  const copy = fromTemplates ? copyOf(workspace) : null;
  try {
    const agent = { ...settings.agent, workspace: copy ?? workspace };
    const all = { ...settings, agent };
    const opened = await openAgent({
      ...around,
      settings: all,
      log,
      plugins,
      ...(soul !== undefined && { soul: { governed: soul, begin: async () => {} } }),
      work: workOf(settings),
    });
    const place = copy === null ? opened.place : { ...opened.place, workspace };
    const owners = [...settings.owners, ...LOCAL_OWNERS];
    const approvals = approvalsOf(settings);
    const deps = { ...opened, agent: place, owners, approvals, clock, log };
    const prompt = await previewTurn(turn, change, deps);
    return { prompt: sentPromptOf(prompt), fromTemplates };
  } finally {
    if (copy !== null) rmSync(copy, { recursive: true, force: true });
  }
}

/** All that tools write to: one more there makes one more necessary here. */
type Work = NonNullable<OpenAgentOptions['work']>;

/** The model is told of the same tools as in a turn; here nothing calls them. */
function workOf({ soul, tools }: LoadedSettings['settings']): Work {
  const { soul: proposals, ...others } = unusedWork(tools.message.chats);
  // Where SOUL.md never changes, nobody proposes that it should.
  return soul.apply === 'never' ? others : { ...others, soul: proposals };
}

function unusedWork(chats: NonNullable<Work['messages']>['chats']): Required<Work> {
  return {
    cron: { store: UNUSED_STORE, ask: unused },
    delegation: {
      subAgents: { start: unused },
      wake: unused,
      newId: (prefix) => prefix,
      clock: () => 0,
    },
    messages: { store: UNUSED_STORE, owners: [], serves: () => false, deliver: unused, chats },
    soul: {
      keeper: { look: unused, current: unused, propose: unused },
      localTime: () => ({ date: '', time: '' }),
    },
    todos: { replace: unused, of: async () => [] },
  };
}

/** Where a tool would look, if one was called. */
const UNUSED_STORE = {
  get inbox(): never {
    throw noToolHere();
  },
  get links(): never {
    throw noToolHere();
  },
  get outbox(): never {
    throw noToolHere();
  },
  get overheard(): never {
    throw noToolHere();
  },
};

function unused(): Promise<never> {
  return Promise.reject(noToolHere());
}

function noToolHere(): Error {
  return new Error('A preview calls no tool.');
}

/** A folder to make a workspace in, with what the real one has already. */
function copyOf(workspace: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'parley-prompt-'));
  if (existsSync(workspace)) cpSync(workspace, copy, { recursive: true });
  return copy;
}
