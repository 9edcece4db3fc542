import { getStrangerCap } from '@parley/settings';
import { type Check, type CheckFinding, defineAuditCheck } from './check.ts';
import type { FactsFor } from './facts.ts';
import { listUnverifiedAccounts } from './unverified-calls.ts';

/**
 * Access that was not used for this many days is reported, so that owners can decide whether to
 * keep it.
 */
const UNUSED_DAYS = 90;
const DAY_MS = 24 * 60 * 60_000;
/**
 * A sign-in that was still unused this many days after it was added is reported: its token may have
 * reached the wrong person.
 */
const HANDED_OVER_DAYS = 7;
const HANDED_OVER_MS = HANDED_OVER_DAYS * DAY_MS;

type SettingsFacts = FactsFor<'settings'>;

export const ACCESS_CHECKS: readonly Check[] = [
  defineAuditCheck('settings', {
    id: 'access.direct-open',
    severity: 'warning',
    title: 'Direct chats are not open to everyone.',
    advice: 'Set access.direct to pairing or allowlist, unless you want everyone to have access.',
    run: (facts) =>
      listOpenAccounts(facts, 'direct').map((name) => `Everyone may write to ${name}.`),
  }),
  defineAuditCheck('settings', {
    id: 'access.groups-open',
    severity: 'warning',
    title: 'Groups are not open: a bot cannot choose who adds it to a group.',
    advice: 'Set access.groups to allowlist and name the groups in allowGroups.',
    run: (facts) =>
      listOpenAccounts(facts, 'groups').map(
        (name) => `${name} answers in every group that adds it.`,
      ),
  }),
  defineAuditCheck('settings', {
    id: 'access.no-cap',
    severity: 'critical',
    title: 'Strangers have a spend cap wherever access is open.',
    advice:
      'Set spend.perStrangerDaily, or remove it: the default is 1,500,000 tokens and 1 US dollar a day.',
    run: (facts) => {
      const open = new Set([
        ...listOpenAccounts(facts, 'direct'),
        ...listOpenAccounts(facts, 'groups'),
      ]);
      if (open.size === 0 || getStrangerCap(facts.settings.spend).cap !== null) return [];
      return [`Strangers may use your model without a cap on ${[...open].join(', ')}.`];
    },
  }),
  defineAuditCheck('settings', {
    id: 'access.always-in-open-groups',
    severity: 'warning',
    title: 'In open groups, the agent answers only messages addressed to it.',
    advice: 'Set activation to mention, or access.groups to allowlist.',
    run: (facts) =>
      listAccounts(facts)
        .filter(({ access, activation }) => access.groups === 'open' && activation === 'always')
        .map(({ name }) => `${name} answers every message in every group.`),
  }),
  defineAuditCheck('settings', {
    id: 'access.live-mentions',
    severity: 'warning',
    title: 'Mentions in answers do not notify people.',
    advice:
      'Set answers.mentions to dead. Otherwise, anyone who writes to the agent can make it notify everyone.',
    run: (facts) =>
      listAccounts(facts)
        .filter(({ answers }) => answers.mentions === 'live')
        .map(({ name }) => `Mentions in answers on ${name} notify people.`),
  }),
  defineAuditCheck('settings', {
    id: 'access.unknown-owner',
    severity: 'warning',
    title: 'Owners and approvers are people on a configured channel.',
    advice:
      'Correct the channel or remove the entry. Otherwise, anyone who gets that id later becomes an owner.',
    run: ({ settings, knownChannels }) => {
      const named = [
        ...settings.owners.map((person) => ['owner', person] as const),
        ...settings.approvals.approvers.map((person) => ['approver', person] as const),
      ];
      return named
        .filter(([, person]) => !knownChannels.includes(person.split(':')[0] ?? ''))
        .map(([role, person]) => `The ${role} ${person} is not on a configured channel.`);
    },
  }),
  defineAuditCheck('settings', {
    id: 'access.approvers',
    severity: 'info',
    title: 'Only owners can approve tool calls.',
    advice:
      'Keep approvals.approvers short: everyone on the list can approve every call that an owner is asked about.',
    run: ({ settings }) =>
      settings.approvals.approvers
        .filter((person) => !settings.owners.includes(person))
        .map((person) => `${person} may approve tool calls but is not an owner.`),
  }),
  defineAuditCheck('database', {
    id: 'access.old-pairings',
    severity: 'info',
    title: `Every paired person wrote in the last ${UNUSED_DAYS} days.`,
    advice:
      'If you know these people, do nothing. There is no command to remove a pairing yet; "access.direct: allowlist" ignores pairings.',
    run: (facts) =>
      facts.allowedPeople
        .filter((person) => isUnusedPerson(person, facts.now))
        .map(
          ({ personId, since }) =>
            `${personId} was paired on ${formatDay(since)} and has not written for ${UNUSED_DAYS} days.`,
        ),
  }),
  defineAuditCheck('database', {
    id: 'access.old-links',
    severity: 'info',
    title: `Every linked account was used in the last ${UNUSED_DAYS} days.`,
    advice: 'Unlink accounts that are no longer yours with "/link off channel:userId".',
    run: (facts) =>
      facts.linked
        .filter((person) => isUnusedPerson(person, facts.now))
        .map(
          ({ personId, since }) => `${personId} was linked on ${formatDay(since)} and is not used.`,
        ),
  }),
  defineAuditCheck('settings', {
    id: 'access.page-exposed',
    severity: 'warning',
    title: 'Only this machine can reach the web page.',
    advice:
      'Set http.host to 127.0.0.1 and put a proxy with TLS in front, or make sure that only such a proxy or a private network reaches the port.',
    run: ({ settings: { http, hooks } }) => {
      if (isLoopbackHost(http.host)) return [];
      const page = `The page is served on ${http.host} without TLS, so others on the network can read the token.`;
      const names = Object.keys(hooks).join(', ');
      return names === '' ? [page] : [page, `They can also read the tokens of the hooks ${names}.`];
    },
  }),
  defineAuditCheck('settings', {
    id: 'access.weak-token',
    severity: 'critical',
    title: 'The token of the web page has at least 32 characters and cannot be guessed.',
    advice:
      'Create one with "openssl rand -hex 24", or remove http.token and the file "token": the next start creates one.',
    run: ({ token }) => {
      if (token === null) return [];
      if (token.length < 32) return [`The token has ${token.length} characters.`];
      return isWeakToken(token) ? [`The token ${WEAK}.`] : [];
    },
  }),
  defineAuditCheck('settings', {
    id: 'access.api-token',
    severity: 'critical',
    title: 'The tokens of API clients cannot be guessed.',
    advice:
      'Create a token for each client with "openssl rand -hex 24", and keep it in an environment variable.',
    run: ({ settings }) =>
      Object.entries(settings.api.clients)
        .filter(([, { token }]) => isWeakToken(token))
        .map(([name]) => `The token of the API client ${name} ${WEAK}.`),
  }),
  defineAuditCheck('settings', {
    id: 'access.api-owner',
    severity: 'info',
    title: 'No API client acts as the owner.',
    advice:
      'If this is intended, do nothing. The client\'s token gives access to everything private and to approvals. Otherwise remove "owner: true".',
    run: ({ settings }) =>
      Object.entries(settings.api.clients).flatMap(
        ([name, { owner }]): (string | CheckFinding)[] => {
          if (!owner) return [];
          const found = `The API client ${name} acts as the owner`;
          if (isLoopbackHost(settings.http.host)) return [`${found}.`];
          const way = `others on the network can read its token, since ${settings.http.host} is served without TLS`;
          return [{ found: `${found}, and ${way}.`, severity: 'warning' }];
        },
      ),
  }),
  defineAuditCheck('database', {
    id: 'access.more-owners',
    severity: 'info',
    title: 'The gateway token is the only owner sign-in for the page.',
    advice:
      'If this is intended, do nothing: an owner can read every private chat and change all settings. "parley people revoke NAME" removes the sign-in.',
    run: ({ signIns }) =>
      signIns
        .filter(({ role }) => role === 'owner')
        .map(({ name }) => `${name} is an owner on the page.`),
  }),
  defineAuditCheck('database', {
    id: 'access.unused-sign-in',
    severity: 'warning',
    title: `Every named sign-in was used within ${HANDED_OVER_DAYS} days after it was added.`,
    advice:
      'Revoke it with "parley people revoke NAME": anyone who finds the message with its token can sign in.',
    run: ({ signIns, now }) =>
      signIns
        .filter(({ usedAt, createdAt }) => usedAt === null && createdAt < now - HANDED_OVER_MS)
        .map(
          ({ name, role, createdAt }) =>
            `${name} (${role}) was added on ${formatDay(createdAt)} and has never signed in.`,
        ),
  }),
  defineAuditCheck('settings', {
    id: 'access.webhook-secret',
    severity: 'warning',
    title: 'Webhooks have a secret of at least 24 characters.',
    advice:
      'Create one with "openssl rand -hex 24". Anyone who guesses the secret can write in any user\'s name.',
    run: (facts) =>
      facts.webhooks.flatMap(({ name, secretLength }): (string | CheckFinding)[] => {
        if (secretLength === 0) {
          return [{ found: `The webhook for ${name} has no secret.`, severity: 'critical' }];
        }
        if (secretLength >= 24) return [];
        return [`The secret of the webhook for ${name} has only ${secretLength} characters.`];
      }),
  }),
  defineAuditCheck('settings', {
    id: 'access.unverified-webhook',
    severity: 'critical',
    title: 'Calls from platforms are verified.',
    advice:
      "Remove that setting. Otherwise, anyone who finds the address can write in any user's name.",
    run: ({ channels }) =>
      listUnverifiedAccounts(channels).map(
        ({ name, setting }) => `${name} accepts unsigned calls (${setting}).`,
      ),
  }),
  defineAuditCheck('settings', {
    id: 'access.weak-hook-token',
    severity: 'critical',
    title: 'Hook tokens cannot be guessed, and no two hooks share a token.',
    advice:
      'Create a token for each hook with "openssl rand -hex 24". Anyone who has the token can start turns.',
    run({ settings, token: ofPage }) {
      const hooks = Object.entries(settings.hooks);
      const used = [ofPage, ...hooks.map(([, { token }]) => token)];
      return hooks.flatMap(([name, { token }]) => {
        const isShared = used.filter((one) => one === token).length > 1;
        return [
          ...(isWeakToken(token) ? [`The token of the hook ${name} ${WEAK}.`] : []),
          ...(isShared ? [`The token of the hook ${name} is also used elsewhere.`] : []),
        ];
      });
    },
  }),
  defineAuditCheck('settings', {
    id: 'access.database-password',
    severity: 'warning',
    title: 'PostgreSQL requires a password.',
    advice: 'Give its user a password, and put it into store.url from an environment variable.',
    run: ({ settings, postgresPassword }) =>
      postgresPassword ? [] : findMissingPassword('PostgreSQL', settings.store.url, undefined),
  }),
  defineAuditCheck('settings', {
    id: 'access.redis-password',
    severity: 'warning',
    title: 'Redis requires a password.',
    advice: 'Set requirepass or an ACL user in Redis, and queue.password here.',
    run: ({ settings: { queue } }) => findMissingPassword('Redis', queue.url, queue.password),
  }),
  defineAuditCheck('settings', {
    id: 'access.servers-without-tls',
    severity: 'warning',
    title: 'Connections to databases and Redis on other machines are encrypted.',
    advice:
      'Use rediss://, and put sslmode=verify-full into store.url, unless the network is private.',
    run: ({ settings: { queue, store } }) => {
      const plain = [
        ...(queue.url?.startsWith('redis://') ? [['Redis', queue.url] as const] : []),
        ...(store.url !== undefined && !/[?&](ssl|sslmode)=(?!disable|false)/.test(store.url)
          ? [['PostgreSQL', store.url] as const]
          : []),
      ];
      return plain
        .filter(([, url]) => !isLoopbackHost(getHost(url)))
        .map(([server, url]) => `The connection to ${server} on ${getHost(url)} is not encrypted.`);
    },
  }),
];

const WEAK = 'has fewer than 10 different characters';

function isWeakToken(token: string): boolean {
  return new Set(token).size < 10;
}

export function isLoopbackHost(host: string): boolean {
  return host === '' || /^(localhost|127(\.\d+){3}|\[?::1\]?|\/.*)$/.test(host);
}

/** Returns the host of a URL; empty if it has none, as in the URL of a Unix socket. */
export function getHost(url: string): string {
  return URL.parse(url)?.hostname ?? '';
}

function findMissingPassword(
  server: string,
  url: string | undefined,
  password: string | undefined,
): readonly CheckFinding[] {
  if (url === undefined || password !== undefined || URL.parse(url)?.password) return [];
  const host = getHost(url);
  if (isLoopbackHost(host)) {
    const found = `${server} on this machine does not require a password, so every local program can use it.`;
    return [{ found, severity: 'info' }];
  }
  return [{ found: `${server} on ${host} does not require a password.`, severity: 'warning' }];
}

function listAccounts({ channels }: SettingsFacts) {
  return Object.values(channels).flatMap((one) =>
    one.kind === 'ok' ? [{ ...one, name: `${one.channel}/${one.account}` }] : [],
  );
}

function listOpenAccounts(facts: SettingsFacts, kind: 'direct' | 'groups'): readonly string[] {
  return listAccounts(facts)
    .filter(({ access }) => access[kind] === 'open')
    .map(({ name }) => name);
}

function isUnusedPerson(
  { since, lastDay }: FactsFor<'database'>['allowedPeople'][number],
  now: number,
): boolean {
  const last = Math.max(since, lastDay === null ? 0 : Date.parse(lastDay));
  return now - last > UNUSED_DAYS * DAY_MS;
}

function formatDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
