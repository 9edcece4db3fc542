import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BuiltInToolDeps, type PreviewChange, previewTurn } from '@parley/agent';
import type { Clock, Logger, SentPrompt } from '@parley/contracts';
import { sentPromptOf } from '@parley/prompt';
import type { ClaimedTurn } from '@parley/store';
import { approvalsOf } from '../approval-settings.ts';
import { LOCAL_OWNERS } from '../local-owners.ts';
import { openAgent } from '../open-agent.ts';
import type { Surroundings } from '../open-skills.ts';
import type { AgentPlugins } from '../plug-in.ts';
import type { LoadedSettings } from '../read-settings.ts';

/** A prompt that was not sent, and how it came about. */
export interface Preview {
  readonly prompt: SentPrompt;
  /** There is no workspace yet: the prompt was made from what a new one starts with. */
  readonly fromTemplates: boolean;
}

/** What the agent of a preview is opened with, as that of a running Parley is. */
export interface PreviewDeps extends Surroundings {
  readonly plugins: AgentPlugins;
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
  { plugins, clock, log, ...around }: PreviewDeps,
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

/** The model is told of these tools; here nothing calls them. */
const UNUSED: Pick<BuiltInToolDeps, 'delegation' | 'soul' | 'todos'> = {
  soul: {
    keeper: { look: unused, current: unused, propose: unused },
    localTime: () => ({ date: '', time: '' }),
  },
  todos: { replace: unused, of: async () => [] },
  delegation: {
    subAgents: { start: unused },
    wake: unused,
    newId: (prefix) => prefix,
    clock: () => 0,
  },
};

/** Where SOUL.md never changes, nobody proposes that it should. */
function workOf({ soul: { apply } }: LoadedSettings['settings']): typeof UNUSED {
  const { soul, ...others } = UNUSED;
  return apply === 'never' ? others : { ...others, ...(soul !== undefined && { soul }) };
}

function unused(): Promise<never> {
  return Promise.reject(new Error('A preview calls no tool.'));
}

/** A folder to make a workspace in, with what the real one has already. */
function copyOf(workspace: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'parley-prompt-'));
  if (existsSync(workspace)) cpSync(workspace, copy, { recursive: true });
  return copy;
}
