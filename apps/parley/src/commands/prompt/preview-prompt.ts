import { cpSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type PreviewChange, type PreviewServices, previewTurn } from '@parley/agent';
import type { Clock, Logger, Monotonic, SentRequest } from '@parley/core';
import { OFFLINE_MODEL } from '@parley/models';
import type { ClaimedTurn } from '@parley/store';
import type { ManagedFile } from '@parley/workspace';
import { listOwners, toApprovalRules, toSubAgentLimits } from '../../access.ts';
import type { InstallationEnv } from '../../agent-sources.ts';
import { getModelName } from '../../agents.ts';
import { listDelegates, type OpenAgentOptions, openAgent } from '../../open-agent.ts';
import type { AgentPlugins } from '../../plug-in.ts';
import type { LoadedSettings } from '../../settings.ts';

interface PreviewDeps extends InstallationEnv {
  /** The name of the agent; undefined for the default agent (F14). */
  readonly name: string | undefined;
  readonly plugins: AgentPlugins;
  /** The SOUL.md in use, which may differ from the file (W06). */
  readonly soul?: ManagedFile;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly log: Logger;
}

/**
 * Builds the first request that one of this installation's agents would send in a hypothetical
 * turn. No files are written, except to a temporary copy when the workspace does not exist
 * (`fromTemplates`).
 */
export async function previewPrompt(
  settings: LoadedSettings['settings'],
  turn: ClaimedTurn,
  change: PreviewChange,
  deps: PreviewDeps,
): Promise<{ readonly prompt: SentRequest; readonly fromTemplates: boolean }> {
  const { workspace } = settings.agent;
  const fromTemplates = !existsSync(join(workspace, 'AGENTS.md'));
  const copy = fromTemplates ? copyWorkspace(workspace) : null;
  try {
    const agent = { ...settings.agent, workspace: copy ?? workspace };
    const copyOf = copy === null ? undefined : resolveRealPath(workspace);
    const services = await openPreviewServices({ ...settings, agent }, { ...deps, copyOf });
    const prompt = await previewTurn(turn, change, services);
    return { prompt, fromTemplates };
  } finally {
    if (copy !== null) rmSync(copy, { recursive: true, force: true });
  }
}

/**
 * Opens an agent to build prompts with it. Its tools are offered as in a turn, but those that need
 * a database cannot be called.
 */
export async function openPreviewServices(
  settings: LoadedSettings['settings'],
  {
    clock,
    monotonic,
    ...deps
  }: PreviewDeps & Pick<OpenAgentOptions, 'copyOf' | 'replaced' | 'work'>,
): Promise<PreviewServices> {
  const { log } = deps;
  const opened = await openAgent({ work: createPreviewWork(settings), ...deps, settings });
  const owners = listOwners(settings);
  const approvals = toApprovalRules(settings);
  const { model: choice } = settings.model;
  return {
    ...opened,
    agent: opened.place,
    subAgentLimits: toSubAgentLimits(settings),
    model: { id: choice === 'offline' ? OFFLINE_MODEL : getModelName(settings) },
    ...{ owners, approvals, clock, monotonic, log },
  };
}

type PreviewWork = NonNullable<OpenAgentOptions['work']>;

/**
 * Creates the same tools as a turn, so that the request offers them; they are never called. Tools
 * that turns receive must be added here as well.
 */
function createPreviewWork(settings: LoadedSettings['settings']): PreviewWork {
  const { soul, tools, media } = settings;
  const { chats } = tools.message;
  const work: Required<PreviewWork> = {
    cron: { store: UNUSED_STORE, ask: unused },
    delegation: {
      subAgents: { start: unused },
      wake: unused,
      newId: (prefix) => prefix,
      clock: () => 0,
      others: listDelegates(settings, settings),
      bounds: settings.limits.subAgents,
    },
    messages: { store: UNUSED_STORE, owners: [], serves: () => false, deliver: unused, chats },
    documents: {
      attachments: { ofConversation: unused },
      media: { readDocument: unused },
    },
    sendFile: {
      store: UNUSED_STORE,
      deliver: unused,
      agentFiles: { ofConversation: unused },
    },
    speak: { store: UNUSED_STORE, deliver: unused, media: {} },
    ownMessages: { store: UNUSED_STORE, deliver: unused, owners: [] },
    soul: {
      service: { current: unused, propose: unused },
      localTime: () => ({ date: '', time: '' }),
    },
    todos: { replace: unused, of: async () => [] },
  };
  // SOUL.md proposals are omitted if SOUL.md never changes, and speech is omitted if there is no
  // speech service.
  const { soul: proposals, speak, ...others } = work;
  return {
    ...others,
    ...(soul.apply !== 'never' && { soul: proposals }),
    ...(media.speech !== undefined && { speak }),
  };
}

/** A store for tools that are offered but never called. */
const UNUSED_STORE = {
  get inbox(): never {
    throw createNoToolError();
  },
  get links(): never {
    throw createNoToolError();
  },
  get outbox(): never {
    throw createNoToolError();
  },
  get groupContext(): never {
    throw createNoToolError();
  },
  get agentFiles(): never {
    throw createNoToolError();
  },
};

const unused = () => Promise.reject(createNoToolError());

function createNoToolError(): Error {
  return new Error('Tools cannot be called in a preview.');
}

/**
 * Creates a temporary folder with the existing contents of the workspace; missing files are then
 * added to the copy.
 */
function copyWorkspace(workspace: string): string {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'parley-prompt-')));
  if (existsSync(workspace)) cpSync(workspace, copy, { recursive: true });
  return copy;
}

/**
 * Returns the real path that a folder will have when it is created. A parent folder may be a
 * symbolic link.
 */
function resolveRealPath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const above = dirname(path);
  return above === path ? path : join(resolveRealPath(above), basename(path));
}
