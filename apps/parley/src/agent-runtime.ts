import { isDeepStrictEqual } from 'node:util';
import { type AgentMcp, openMedia } from '@parley/agent';
import { type AskCron, newId } from '@parley/core';
import type { PlannedAccount } from '@parley/gateway';
import { getContextTokens, resolveWindow } from '@parley/models';
import {
  createServedAccountCheck,
  listOwners,
  openSpendGuard,
  toApprovalRules,
  toSubAgentLimits,
} from './access.ts';
import { createSkillCommands } from './agent-sources.ts';
import { createPagePreview } from './commands/prompt/page.ts';
import { type ChosenModel, chooseModel } from './model.ts';
import { listDelegates, openAgent } from './open-agent.ts';
import type { LoadedPlugins } from './plug-in.ts';
import { openHeartbeat } from './proactive.ts';
import type { OpenLog, StartOptions } from './process-options.ts';
import type { ProcessServices } from './process-services.ts';
import { addHostedChannels, type LoadedSettings } from './settings.ts';
import { openSoul } from './soul.ts';

export type AgentRuntime = Awaited<ReturnType<typeof openAgentRuntime>>;

export interface SharedAgentServices {
  readonly options: StartOptions & OpenLog;
  readonly plugins: LoadedPlugins;
  readonly services: Pick<ProcessServices, 'shared' | 'filesOf'>;
  readonly mcp: AgentMcp;
  readonly accounts: readonly PlannedAccount[];
  readonly askCron: AskCron;
}

/** An open model, with the settings that selected it. */
export interface KnownModel {
  readonly settings: LoadedSettings['settings'];
  readonly model: ChosenModel;
}

/**
 * Opens an agent with its own settings. `name` is undefined for the default agent. `known` lists
 * the models that are already open; a model is reused if the settings still select it.
 */
export async function openAgentRuntime(
  settings: LoadedSettings['settings'],
  name: string | undefined,
  common: SharedAgentServices,
  known: readonly KnownModel[],
) {
  const { options, plugins, services, mcp, accounts } = common;
  const { clock, monotonic, log, folder } = options;
  const { shared } = services;
  const store = { ...shared.store, ...shared.store.ofAgent(name) };
  const lock = services.filesOf(settings);
  const owners = listOwners(settings);
  const same = known.find((one) => hasSameModels(one.settings, settings));
  const model =
    same === undefined ? chooseModel(settings, { ...options, meter: shared.meter }) : same.model;
  const models = { model: () => model.model, meter: shared.meter };
  const { loaded } = plugins;
  const ofAll = loaded.settings.spend;
  const named = name === undefined ? undefined : { name, ofAll, settings };
  const soul = openSoul(settings, { ...options, store, lock, models, named });
  const media = openMedia(settings.media);
  const agent = await openAgent({
    ...options,
    name,
    soul: soul.service,
    lock,
    settings,
    plugins: plugins.agent,
    mcp,
    durable: { ...shared, store },
    work: {
      ...createWorkStores(settings, common, media, name),
      ...soul.tool,
    },
  });
  const approvals = toApprovalRules(settings);
  const proactive = openHeartbeat(settings, {
    ...{ ...shared, ...agent, store, folder, owners, accounts },
  });
  const preview = createPagePreview(
    agent,
    {
      channels: addHostedChannels(plugins.definitions, loaded).map(({ id }) => id),
      heartbeat: (choose) => proactive.heartbeat.preview(choose),
    },
    {
      ...{ owners, approvals, model: model.model, clock, monotonic, log },
      subAgentLimits: toSubAgentLimits(settings),
      contextTokens: () =>
        resolveWindow(model.model, getContextTokens(settings.model, model.model.id)),
    },
  );
  return {
    settings,
    store,
    agent,
    media,
    owners,
    approvals,
    preview,
    model,
    proactive,
    soul,
    skillCommands: createSkillCommands(agent.skills),
    spendGuard: openSpendGuard(loaded, { store, log, clock }, named),
  };
}

/** The stores that the agent's tools write to. */
function createWorkStores(
  settings: LoadedSettings['settings'],
  { options: { clock }, plugins, services: { shared }, accounts, askCron }: SharedAgentServices,
  media: ReturnType<typeof openMedia>,
  agentName: string | undefined,
) {
  const { store, turns, deliver } = shared;
  const { chats } = settings.tools.message;
  const owners = listOwners(settings);
  return {
    cron: { store, ask: askCron },
    delegation: {
      subAgents: store.subAgents,
      wake: (conversationId: string) => turns.wake(conversationId),
      newId,
      clock,
      others: listDelegates(settings, plugins.loaded.settings),
      bounds: settings.limits.subAgents,
    },
    messages: {
      store,
      owners,
      agentName,
      serves: createServedAccountCheck(accounts),
      chats,
      deliver,
    },
    documents: { attachments: store.attachments, media },
    sendFile: { store, deliver, agentFiles: store.agentFiles },
    ...(media.speech !== undefined && { speak: { store, deliver, media } }),
    ownMessages: { store, deliver, owners },
    todos: store.todos,
  };
}

/**
 * Returns whether two versions of the settings select the same model with the same parameters, so
 * that what is already known about the model still applies.
 */
function hasSameModels(a: LoadedSettings['settings'], b: LoadedSettings['settings']): boolean {
  return isDeepStrictEqual([a.model, a.agent.timeZone], [b.model, b.agent.timeZone]);
}
