import { randomBytes } from 'node:crypto';
import {
  createLocalTime,
  createSpendGuard,
  type SpendGuard,
  type SpendScope,
  type TurnLimits,
  type TurnServices,
} from '@parley/agent';
import {
  type AgentRules,
  APPROVAL_CODE_LENGTH,
  type ChannelDefinition,
  createOneTimeCode,
  type DecisionRules,
} from '@parley/channels';
import { api } from '@parley/channels/api';
import type { Clock, Logger } from '@parley/core';
import type { PlannedAccount, UsageDisplaySettings } from '@parley/gateway';
import { getStrangerCap } from '@parley/settings';
import type { Store } from '@parley/store';
import { addHostedChannels, type LoadedSettings } from './settings.ts';

/** Misconfigured accounts are included, along with the reason (D12). */
export function planAccounts(
  loaded: LoadedSettings,
  owners: readonly string[],
  channels: readonly ChannelDefinition[],
): PlannedAccount[] {
  const { limits, approvals, lanes } = loaded.settings;
  const { busy } = lanes;
  const { approvers } = approvals;
  const agents = toAgentRules(loaded);
  const plans: PlannedAccount[] = planApiAccounts(loaded.settings, { owners, agents });
  const definitions = addHostedChannels(channels, loaded);
  for (const checked of Object.values(loaded.channels)) {
    const { channel, account } = checked;
    // The settings cannot define Parley's own channel for programs; `config check` reports an
    // attempt to do so.
    if (checked.kind === 'disabled' || channel === api.id) continue;
    if (checked.kind === 'broken') {
      const problems = checked.problems.map(({ path, expected }) => `${path} must be ${expected}`);
      plans.push({ kind: 'broken', channel, account, reason: `${problems.join('; ')}.` });
      continue;
    }
    const definition = definitions.find(({ id }) => id === channel);
    if (!definition) continue;
    const { access, activation, answers, settings, whenUncertain } = checked;
    const policy = { access, activation, answers };
    const rules = { policy, owners, approvers, limits, busy, agents };
    plans.push({ kind: 'ready', plan: { definition, account, settings, rules, whenUncertain } });
  }
  return plans;
}

/** Returns each agent's routes and owners (F14), or undefined if there is only one agent. */
function toAgentRules({ settings, agents }: LoadedSettings): AgentRules | undefined {
  if (agents.size === 0) return undefined;
  const { id } = settings.agent;
  const rightsOf = (own: LoadedSettings['settings']) => ({
    owners: listOwners(own),
    approvers: own.approvals.approvers,
  });
  return {
    id,
    routes: settings.routes.map((route) => ({
      ...route,
      agent: route.agent === id ? undefined : route.agent,
    })),
    rights: new Map<string | undefined, ReturnType<typeof rightsOf>>([
      [undefined, rightsOf(settings)],
      ...[...agents].map(([name, own]) => [name, rightsOf(own)] as const),
    ]),
  };
}

/**
 * The API is a single account without rules in the settings; its adapter rejects requests without a
 * token.
 */
function planApiAccounts(
  {
    api: { clients, origins, waitSeconds },
    agent,
    limits,
    approvals,
    lanes,
  }: LoadedSettings['settings'],
  { owners, agents }: Pick<DecisionRules, 'owners' | 'agents'>,
): PlannedAccount[] {
  if (Object.keys(clients).length === 0) return [];
  const access = {
    direct: 'token',
    groups: 'disabled',
    groupCommands: 'owners',
    allow: [],
    allowGroups: [],
  } as const;
  const answers = { mentions: 'dead', numbered: false } as const;
  const { approvers } = approvals;
  const policy = { access, activation: 'mention', answers } as const;
  const rules = { policy, owners, approvers, limits, busy: lanes.busy, agents };
  const settings = { agent: agent.id, waitMs: waitSeconds * 1_000, origins, clients };
  return [{ kind: 'ready', plan: { definition: api, account: 'default', settings, rules } }];
}

export function createServedAccountCheck(
  accounts: readonly PlannedAccount[],
): (channel: string, account: string) => boolean {
  const served = new Set(
    accounts.flatMap((one) =>
      one.kind === 'ready' ? [toAccountKey(one.plan.definition.id, one.plan.account)] : [],
    ),
  );
  return (channel, account) => served.has(toAccountKey(channel, account));
}

function toAccountKey(channel: string, account: string): string {
  return JSON.stringify([channel, account]);
}

/** Everyone who signs in to the web page or the terminal with the token owns this installation. */
const LOCAL_OWNERS: readonly string[] = ['web:owner', 'terminal:owner'];

/**
 * Lists the owners of an agent: the owners named in its settings, the owner on the page and in the
 * terminal, and its API clients marked as owner.
 */
export function listOwners({
  owners,
  agent: { id },
  agents,
  api: { clients },
}: Pick<LoadedSettings['settings'], 'owners' | 'agent' | 'agents' | 'api'>): readonly string[] {
  const isDefault = agents[id] === undefined;
  const named = Object.entries(clients).flatMap(([name, client]) => {
    const isTheirs = client.agent === id || (client.agent === undefined && isDefault);
    return client.owner && isTheirs ? [`api:${name}`] : [];
  });
  return [...owners, ...LOCAL_OWNERS, ...named];
}

/**
 * Returns the approvers of tool calls and the lifetime of an approval request (G05). The settings
 * use minutes; all other code uses ms.
 */
export function toApprovalRules({
  approvals: { waitMinutes, ...rules },
}: LoadedSettings['settings']): NonNullable<TurnServices['approvals']> {
  return {
    rules: { ...rules, waitMs: waitMinutes * 60_000 },
    newCode: () => createOneTimeCode(randomBytes(APPROVAL_CODE_LENGTH), APPROVAL_CODE_LENGTH),
  };
}

function listOpenAccessAccounts(channels: LoadedSettings['channels']): readonly string[] {
  return Object.values(channels).flatMap((one) => {
    if (one.kind !== 'ok') return [];
    const { channel, account, access } = one;
    const kinds = (['direct', 'groups'] as const).filter((kind) => access[kind] === 'open');
    return kinds.map((kind) => `${channel}/${account} ${kind}`);
  });
}

/**
 * Returns whether a person has access only because access is open: the settings list neither the
 * person nor the group.
 */
function isStranger(
  channels: LoadedSettings['channels'],
  { channel, account, channelUserId, groupId }: SpendScope,
): boolean {
  const found = channels[`${channel}/${account}`];
  if (found?.kind !== 'ok' || found.access.allow.includes(channelUserId)) return false;
  const { direct, groups, allowGroups } = found.access;
  return groupId === undefined
    ? direct === 'open'
    : groups === 'open' && !allowGroups.includes(groupId);
}

/**
 * Opens the spend guard of an installation. Strangers have a spending cap wherever access is open
 * (G17). For agents other than the default one, the agent's own caps apply as well.
 */
export function openSpendGuard(
  { settings, channels }: Pick<LoadedSettings, 'settings' | 'channels'>,
  {
    store,
    log,
    clock,
  }: { readonly store: Pick<Store, 'spend'>; readonly log: Logger; readonly clock?: Clock },
  named?: { readonly name: string; readonly settings: LoadedSettings['settings'] },
): SpendGuard {
  const { perStrangerDaily: _resolved, ...caps } = settings.spend;
  const { cap, from } = getStrangerCap(settings.spend);
  if (named === undefined) logStrangerCap(log, listOpenAccessAccounts(channels), { cap, from });
  const deps = { store, log, ...(clock && { clock }), isStranger: isStranger.bind(null, channels) };
  return createSpendGuard(
    deps,
    { ...caps, ...(cap !== null && { perStrangerDaily: cap }) },
    { timeZone: (named?.settings ?? settings).agent.timeZone, name: named?.name },
    named && toSpendCaps(named.settings.spend),
  );
}

function toSpendCaps({ perStrangerDaily: cap, ...caps }: LoadedSettings['settings']['spend']) {
  return { ...caps, ...(cap !== undefined && cap !== 'off' && { perStrangerDaily: cap }) };
}

/** Returns the spending caps shown in usage reports (U07), broadest first. */
export function toUsageDisplaySettings({
  agent,
  spend,
}: LoadedSettings['settings']): UsageDisplaySettings {
  const localTime = createLocalTime(agent.timeZone);
  const names = ['totalDaily', 'perPersonDaily', 'perGroupDaily', 'perStrangerDaily'] as const;
  const caps = names.flatMap((name) => {
    const cap = spend[name];
    return cap === undefined || cap === 'off' ? [] : [{ name, ...cap }];
  });
  const dayAt: UsageDisplaySettings['dayAt'] = (now) => localTime(now).date;
  return { timeZone: agent.timeZone, dayAt, caps };
}

function logStrangerCap(
  log: Logger,
  places: readonly string[],
  { cap, from }: ReturnType<typeof getStrangerCap>,
): void {
  if (places.length === 0) return;
  if (cap === null) {
    log.warn(
      { open: places },
      'open access without a cap on strangers: spend.perStrangerDaily is off',
    );
  } else if (from === 'default') {
    const message =
      'open access: each stranger has the default cap per day; spend.perStrangerDaily changes it';
    log.info({ open: places, perStrangerDaily: cap }, message);
  }
}

/** Returns the limits that all sub-agents of a conversation share (G07). */
export function toSubAgentLimits({
  limits,
}: Pick<LoadedSettings['settings'], 'limits'>): NonNullable<TurnServices['subAgentLimits']> {
  const { minutes, ...bounds } = limits.subAgents;
  return { ...bounds, turnMs: minutes * 60_000 };
}

/** Limits how much of a conversation's history the model receives. */
export const HISTORY = { entries: 400, tokens: 24_000 };

/** The limits of one turn (G01). The settings use seconds and minutes; all other code uses ms. */
export function toTurnLimits({ limits, tools }: LoadedSettings['settings']): TurnLimits {
  return {
    steps: limits.turnSteps,
    turnMs: limits.turnMinutes * 60_000,
    tokens: limits.turnTokens,
    toolMs: tools.maxSeconds * 1_000,
    outputCharacters: tools.maxCharacters,
    calls: limits.answer.calls,
    messages: limits.answer.messages,
    characters: limits.answer.characters,
  };
}
