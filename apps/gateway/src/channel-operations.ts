import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DecisionRules, findOwnerChat, renderNoticeParts } from '@parley/channels';
import {
  type Clock,
  createRefusalError,
  defineChangeOperation,
  defineReadOperation,
  describeDefects,
  type Monotonic,
  type ParleyError,
  type WakeServices,
  wakeIfPossible,
} from '@parley/core';
import type { DeadLetterWake, Store } from '@parley/store';
import { z } from 'zod';
import type { AccountState, AccountStatus } from './accounts/account.ts';
import type { AccountName } from './accounts/account-rights.ts';

/**
 * The accounts in the settings. A gateway connects them; other processes can only read their plans.
 */
export interface AccountRegistry {
  status(): readonly AccountStatus[];
  /**
   * Returns an account's plan; undefined if the account is not in the settings, and without `rules`
   * if its settings are invalid.
   */
  planOf(name: AccountName): { readonly rules?: DecisionRules } | undefined;
  pause(name: AccountName, by: string): Promise<void>;
  resume(name: AccountName): Promise<void>;
  /** Reconnects an account; absent in processes that do not connect accounts. */
  reconnect?(name: AccountName): Promise<void>;
  /**
   * Asks the gateway that is connected as the account to reconnect it; null if that is this
   * gateway, or if no gateway is connected.
   */
  reconnectElsewhere?(name: AccountName): Promise<AccountSummary | null>;
}

export interface ChannelSettings {
  /**
   * Adds a group to `access.allowGroups`. On failure, throws ParleyError and leaves the settings
   * unchanged.
   */
  allowGroup(name: AccountName, chatId: string, title: string | null): Promise<void>;
}

export interface OperatorChannels {
  readonly accounts: AccountRegistry;
  readonly settings?: ChannelSettings | undefined;
  readonly monotonic: Monotonic;
}

interface ChannelOperationDeps extends WakeServices<DeadLetterWake> {
  readonly store: Pick<Store, 'pairing' | 'seenGroups' | 'inbox' | 'links' | 'outbox'>;
  readonly clock: Clock;
  channels(): Promise<OperatorChannels>;
}

/** How long (ms) an operation waits for the outcome before it responds. */
const ANSWERED_WITHIN_MS = 3_000;
const POLL_INTERVAL_MS = 100;
/** How many of a chat's most recent message parts are searched for the test message. */
const MAX_RECENT = 10;
/** Built-in front ends cannot be paused, because there would be no page left to resume them. */
const LOCAL: ReadonlySet<string> = new Set(['web', 'terminal']);

const Account = { channel: z.string(), account: z.string() };
/**
 * Operators decide about strangers and groups, so the responses name strangers and groups, but no
 * other people.
 */
const OPERATOR = { role: 'operator' } as const;

export const operations = {
  report: defineReadOperation(
    'List the accounts with their state, the people waiting for access, and the groups with messages',
    {},
    async ({ store, clock, channels }: ChannelOperationDeps, _, { caller }) => {
      const deps = await channels();
      const [waiting, groups] = await Promise.all([
        store.pairing.pending(clock()),
        store.seenGroups.list(),
      ]);
      const report = {
        accounts: deps.accounts.status().map((status) => toAccountSummary(deps, status)),
        /** The oldest request comes first. Applicants' names and titles are untrusted. */
        waiting: waiting.map(({ route: _, ...applicant }) => applicant),
        /** The most recently seen group comes first. */
        groups: groups.filter((group) => isGroupNotAllowed(deps.accounts, group)),
      };
      return caller.role === 'owner' ? report : removeLinkingCodes(report);
    },
    OPERATOR,
  ),
  pause: defineChangeOperation(
    'Disconnect an account; the platform keeps its messages until the account is resumed',
    Account,
    async ({ channels }: ChannelOperationDeps, name, { caller }) => {
      const deps = await channels();
      findStatus(deps.accounts, name);
      if (LOCAL.has(name.channel)) {
        throw createChannelRefusal(
          `${formatAccount(name)} is built into Parley and cannot be paused.`,
        );
      }
      return waitUntilSettled(deps, name, deps.accounts.pause(name, caller.name));
    },
    OPERATOR,
  ),
  resume: defineChangeOperation(
    'Connect a paused account again',
    Account,
    async ({ channels }: ChannelOperationDeps, name) => {
      const deps = await channels();
      findStatus(deps.accounts, name);
      return waitUntilSettled(deps, name, deps.accounts.resume(name));
    },
    OPERATOR,
  ),
  reconnect: defineChangeOperation(
    'Close the connection of an account and open it again',
    /**
     * `isPassedOn` means that another gateway forwarded this request; forwarding it again could
     * cause a loop.
     */
    { ...Account, isPassedOn: z.boolean().default(false) },
    async ({ channels }: ChannelOperationDeps, { isPassedOn, ...name }) => {
      const deps = await channels();
      const { state } = findStatus(deps.accounts, name);
      if (deps.accounts.reconnect === undefined)
        throw createChannelRefusal('No gateway is running on this data folder. Start it first.');
      if (state.kind === 'paused')
        throw createChannelRefusal(`${formatAccount(name)} is paused. Resume it first.`);
      const answer = isPassedOn ? null : await deps.accounts.reconnectElsewhere?.(name);
      return answer ?? waitUntilSettled(deps, name, deps.accounts.reconnect(name));
    },
    OPERATOR,
  ),
  test: defineChangeOperation(
    'Send a test message to an owner’s chat on that account',
    Account,
    async (needs: ChannelOperationDeps, name, { caller }) =>
      sendTestMessage(needs, await needs.channels(), name, caller.role === 'owner'),
    OPERATOR,
  ),
  allow: defineChangeOperation(
    'Allow a group that has written, by adding it to the settings file',
    { ...Account, chatId: z.string().min(1).max(256) },
    async ({ store, channels }: ChannelOperationDeps, { chatId, ...name }) => {
      const { accounts, settings } = await channels();
      const rules = accounts.planOf(name)?.rules;
      if (settings === undefined || rules === undefined) {
        throw createChannelRefusal(
          `${formatAccount(name)} has no settings to which a group could be added.`,
        );
      }
      const mode = rules.policy.access.groups;
      if (mode !== 'allowlist') {
        throw createChannelRefusal(
          `access.groups for ${formatAccount(name)} is ${mode}; set it to allowlist to allow individual groups.`,
        );
      }
      const groups = await store.seenGroups.list();
      const seen = groups.find((group) => isSameAccount(group, name) && group.chatId === chatId);
      await settings.allowGroup(name, chatId, seen?.title ?? null);
      await store.seenGroups.forget({ ...name, chatId });
      return {
        text: `${seen?.title ?? chatId} is allowed; this takes effect within a few seconds.`,
      };
    },
    OPERATOR,
  ),
};

/**
 * Removes the codes that link a phone from an account report. Whoever scans such a code decides
 * which account answers here.
 */
export function removeLinkingCodes<Report extends object>(report: Report): Report {
  const shown = JSON.stringify(report, (_key, value) =>
    value?.kind === 'pairing' ? { ...value, code: '' } : value,
  );
  return JSON.parse(shown);
}

/** Waits up to a few seconds for the state to settle; a platform may take longer. */
async function waitUntilSettled(deps: OperatorChannels, name: AccountName, work: Promise<void>) {
  await Promise.race([work, sleep(ANSWERED_WITHIN_MS, undefined, { ref: false })]);
  return toAccountSummary(deps, findStatus(deps.accounts, name));
}

/**
 * Finds the status of an account; throws ParleyError if the settings do not contain the account.
 */
function findStatus(accounts: Pick<AccountRegistry, 'status'>, name: AccountName): AccountStatus {
  const found = accounts.status().find((status) => isSameAccount(status, name));
  if (found !== undefined) return found;
  throw createRefusalError(
    'account-unknown',
    `The settings do not contain the account ${formatAccount(name)}. "parley channels" lists all accounts.`,
  );
}

export type AccountSummary = ReturnType<typeof toAccountSummary>;

/** Returns an account with its state and the access that its settings permit. */
function toAccountSummary(
  { accounts, settings }: OperatorChannels,
  { channel, account, state, defects, webhook }: AccountStatus,
) {
  // These rules do not apply to the page and the terminal.
  const rules = LOCAL.has(channel) ? undefined : accounts.planOf({ channel, account })?.rules;
  const access = rules && {
    ...rules.policy.access,
    /** The number of people whom the settings allow by name. */
    allow: rules.policy.access.allow.length,
    activation: rules.policy.activation,
  };
  return {
    ...{ channel, account, state },
    ...(webhook !== undefined && { webhook }),
    ...(defects && { defects, reason: `Its adapter has ${describeDefects(defects)}.` }),
    ...getReasonAndFix(state),
    ...(access && { access }),
    canPause: !LOCAL.has(channel),
    canAllowGroups: settings !== undefined && access?.groups === 'allowlist',
  };
}

const HOW_TO_LINK = {
  scan: 'Scan the code with the phone.',
  type: 'Type the code on the phone.',
} as const;

/**
 * Returns why an account is not working and what a person can do about it; empty if the account
 * works.
 */
function getReasonAndFix(state: AccountState): { readonly reason?: string; readonly fix?: string } {
  switch (state.kind) {
    case 'failed':
      return { reason: state.reason, fix: state.fix };
    case 'retrying':
      return {
        reason: state.reason,
        fix: 'Parley keeps trying. If the problem persists, check that this machine and the platform are online.',
      };
    case 'pairing':
      return { reason: 'No phone is linked.', fix: HOW_TO_LINK[state.how] };
    case 'standby':
      return { reason: `Another gateway, ${state.holder}, is connected.` };
    case 'paused':
      return { fix: 'The platform keeps messages until the account is resumed.' };
    case 'starting':
    case 'connected':
    case 'stopped':
      return {};
  }
}

async function sendTestMessage(
  needs: ChannelOperationDeps,
  { accounts, monotonic }: OperatorChannels,
  name: AccountName,
  showsChat: boolean,
): Promise<{ readonly text: string }> {
  const { store, clock } = needs;
  const { state } = findStatus(accounts, name);
  if (state.kind !== 'connected' && state.kind !== 'standby') {
    throw createChannelRefusal(
      `${formatAccount(name)} is not connected (${state.kind}), so nothing was sent.`,
    );
  }
  const serves = (channel: string, account: string) => isSameAccount({ channel, account }, name);
  const { owners = [], agents } = accounts.planOf(name)?.rules ?? {};
  let chat: Awaited<ReturnType<typeof findOwnerChat>> = null;
  // If there are several agents, the owner may have written to any of them.
  for (const [agentName, own] of agents?.rights ?? [[undefined, { owners }] as const]) {
    chat ??= await findOwnerChat({ store, owners: own.owners, agentName, serves });
  }
  if (chat === null) {
    throw createChannelRefusal(
      `No owner has written to ${formatAccount(name)} yet, so there is no chat for a test. Write to the bot there; /whoami shows the id to add to \`owners\` in the settings.`,
    );
  }
  const { replyToMessageId: _, ...route } = chat.last.route;
  const now = clock();
  const text = `⚙️ This is a test message, sent at ${new Date(now).toISOString().slice(11, 19)} UTC.`;
  const [first, ...others] = renderNoticeParts(text, route);
  if (first === undefined) throw createChannelRefusal('There is nothing to send.');
  await store.outbox.post({ key: `test:${randomUUID()}`, parts: [first, ...others] }, now);
  await wakeIfPossible(needs, { kind: 'chat', chat: route });
  const where = showsChat ? `in the chat ${route.channel}:${route.chatId}` : 'in an owner’s chat';
  const sent = { text: first.body.plain, at: now, where };
  return { text: await waitForDelivery({ store, monotonic }, route, sent) };
}

/** Waits briefly for the platform to accept or reject the message. */
async function waitForDelivery(
  { store, monotonic }: Pick<ChannelOperationDeps, 'store'> & Pick<OperatorChannels, 'monotonic'>,
  { channel, account, chatId }: AccountName & { readonly chatId: string },
  sent: { readonly text: string; readonly at: number; readonly where: string },
): Promise<string> {
  const { where } = sent;
  const until = monotonic() + ANSWERED_WITHIN_MS;
  while (monotonic() < until) {
    const entries = await store.outbox.recent({ channel, account, chatId }, MAX_RECENT);
    const entry = entries.findLast(
      ({ part, createdAt }) => createdAt >= sent.at && part.body.plain === sent.text,
    );
    if (entry?.state === 'sent') return `The test message arrived ${where}.`;
    if (entry?.state === 'failed') {
      throw createChannelRefusal(`The platform rejected the test message ${where}: ${entry.error}`);
    }
    await sleep(POLL_INTERVAL_MS);
  }
  return `The test message ${where} was sent but has not arrived after ${ANSWERED_WITHIN_MS / 1_000} s.`;
}

/**
 * Returns false for groups that have since been allowed, and for groups whose account no longer
 * exists.
 */
function isGroupNotAllowed(
  accounts: Pick<AccountRegistry, 'planOf'>,
  { chatId, ...name }: AccountName & { readonly chatId: string },
): boolean {
  const access = accounts.planOf(name)?.rules?.policy.access;
  return access?.groups === 'allowlist' && !access.allowGroups.includes(chatId);
}

function isSameAccount(one: AccountName, other: AccountName): boolean {
  return one.channel === other.channel && one.account === other.account;
}

function formatAccount({ channel, account }: AccountName): string {
  return `${channel}/${account}`;
}

function createChannelRefusal(message: string): ParleyError {
  return createRefusalError('channel-refused', message);
}
