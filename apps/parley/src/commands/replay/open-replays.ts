import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalTime, openMedia, type PreviewServices } from '@parley/agent';
import {
  type OpenedReplay,
  openReplay,
  type RecordServices,
  type ReplayRequest,
  type ReplayServices,
  replayRecordedTurn,
} from '@parley/agent/replay';
import type { ReplayOutcome } from '@parley/agent/replay-outcome';
import { createCheckRunner, getConversationAgent } from '@parley/core';
import { getContextTokens } from '@parley/models';
import type { PromptSummary } from '@parley/store';
import { getSoulText, type ManagedFile, SOUL } from '@parley/workspace';
import { HISTORY, listOwners, toSubAgentLimits, toTurnLimits } from '../../access.ts';
import { CliError } from '../../data-folder.ts';
import type { OpenAgentOptions } from '../../open-agent.ts';
import { NO_PLUGINS } from '../../plug-in.ts';
import {
  type ChosenAgent,
  findChosenAgent,
  type LoadedSettings,
  readSettings,
} from '../../settings.ts';
import { openPreviewServices } from '../prompt/preview-prompt.ts';
import type { ReplayChoice, ReplayDeps } from './replay-choice.ts';
import { openReplayModels, toModelSettings } from './replay-models.ts';

/** The facts that find a turn's agent and model. */
export type RecordedTurnKey = Pick<PromptSummary, 'turnId' | 'conversationId' | 'model'> &
  Partial<Pick<PromptSummary, 'at'>>;

/** Replays one turn (G22); null if nothing of it is known. Throws CliError for a wrong choice. */
export type Replay = (turn: RecordedTurnKey, signal: AbortSignal) => Promise<ReplayOutcome | null>;

/** Prepares replays with one choice; whatever the turns of an agent share is opened once. */
export function openReplays(choice: ReplayChoice, deps: ReplayDeps): Replay {
  const agents = new Map<string | undefined, ReturnType<typeof openAgentReplays>>();
  return async ({ turnId, conversationId, model, at = 0 }, signal) => {
    const name = getConversationAgent(conversationId);
    if (name !== undefined && !deps.loaded.agents.has(name)) {
      const hint = `The settings no longer have the agent ${JSON.stringify(name)}, whose turn this is.`;
      const about = { turnId, conversationId, at, question: '', resumed: false };
      return { ...about, kind: 'incomplete', missing: 'settings', hint };
    }
    const opened =
      agents.get(name) ?? openAgentReplays(findChosenAgent(deps.loaded, name), choice, deps);
    agents.set(name, opened);
    const { services, requestFor } = await opened;
    return replayRecordedTurn(services, turnId, await requestFor(model), signal);
  };
}

async function openAgentReplays(agent: ChosenAgent, choice: ReplayChoice, deps: ReplayDeps) {
  const { settings } = agent;
  const other = choice.profile === undefined ? undefined : readProfile(agent, choice.profile, deps);
  const open = createAgentOpener(agent, deps);
  const change = await openChange(settings, { other, files: choice.files }, open);
  const liveReads = choice.liveReads ? { services: await open(settings, { work: {} }) } : undefined;
  const modelFor = openReplayModels(agent, { ...choice, other }, deps);
  const services: ReplayServices = {
    ...createRecordServices(agent, deps),
    ...{ clock: deps.clock, monotonic: deps.monotonic },
    limits: toTurnLimits(other ?? settings),
    checks: createCheckRunner(),
  };
  const requestFor = async (model: string): Promise<ReplayRequest> => ({
    ...(await modelFor(model)),
    ...{ change, liveReads },
  });
  return { services, requestFor };
}

/** The services with which the records of an agent are read. */
function createRecordServices(
  agent: ChosenAgent,
  { store, log }: Pick<ReplayDeps, 'store' | 'log'>,
): RecordServices {
  const { settings } = agent;
  return {
    ...{ store, log, owners: listOwners(settings), history: HISTORY },
    agent: describePlace(agent),
    media: openMedia(settings.media),
    contextTokens: (model) => getContextTokens(toModelSettings(settings, model), model),
    subAgentLimits: toSubAgentLimits(settings),
  };
}

/**
 * Reads a turn and builds its request again. Throws CliError if nothing of the turn is known or the
 * record is incomplete.
 */
export async function openRecordedTurn(
  agent: ChosenAgent,
  turnId: string,
  deps: Pick<ReplayDeps, 'store' | 'log'>,
  signal: AbortSignal,
): Promise<OpenedReplay> {
  const opened = await openReplay(createRecordServices(agent, deps), turnId, signal);
  if (opened === null) throw new CliError('replay-unknown', `No turn ${turnId} is recorded.`);
  if ('kind' in opened) throw new CliError('replay-incomplete', opened.hint);
  return opened;
}

/** The agent as its turns know it. Its name in the prompt comes from the record. */
function describePlace({ name, settings }: ChosenAgent): ReplayServices['agent'] {
  const { id, workspace, timeZone, clockMinutes, responseFormat } = settings.agent;
  const localTime = createLocalTime(timeZone);
  return {
    ...{ id, name, workspace, timeZone, localTime, clockMinutes, responseFormat },
    identity: {},
  };
}

function readProfile(
  { name }: ChosenAgent,
  profile: string,
  { folder, env }: ReplayDeps,
): LoadedSettings['settings'] {
  const choice = { agent: name, profile };
  return findChosenAgent(readSettings(folder, env, undefined, undefined, choice), name).settings;
}

type OpenForPrompts = (
  settings: LoadedSettings['settings'],
  more?: Pick<OpenAgentOptions, 'replaced' | 'work'>,
) => Promise<PreviewServices>;

/** Opens the agent without plugins and hooks, which may act; their text comes from the record. */
function createAgentOpener({ name }: ChosenAgent, deps: ReplayDeps): OpenForPrompts {
  const { store, folder, env, clock, monotonic, log } = deps;
  return async (settings, more = {}) => {
    const { id, workspace } = settings.agent;
    if (!existsSync(join(workspace, 'AGENTS.md')))
      throw new CliError('replay-workspace', `There is no workspace at ${workspace} yet.`);
    const soul = { name: SOUL, current: () => store.souls.applied(id) };
    const around = { folder, env, clock, monotonic, log, name, soul };
    return openPreviewServices(settings, { ...around, plugins: NO_PLUGINS, ...more });
  };
}

/** A text that no file has, so that every layer that shows the file is found. */
const NO_TEXT = 'A text that no file has.';

/** The agent before and after the change; undefined if files and profile stay as they are. */
async function openChange(
  settings: LoadedSettings['settings'],
  {
    other,
    files = {},
  }: Pick<ReplayChoice, 'files'> & { readonly other: LoadedSettings['settings'] | undefined },
  open: OpenForPrompts,
): Promise<ReplayRequest['change']> {
  const names = Object.keys(files);
  if (names.length === 0 && other === undefined) return undefined;
  const before = names.map((name) => replaceFile(name, NO_TEXT));
  const after = names.map((name) => replaceFile(name, files[name] ?? ''));
  return {
    before: await open(settings, { replaced: before }),
    after: await open(other ?? settings, { replaced: after }),
  };
}

function replaceFile(name: string, text: string): ManagedFile {
  return { name, current: async () => ({ text: getSoulText(text), head: '' }) };
}
