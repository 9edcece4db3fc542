import { strangerCap } from '@parley/settings';
import type { AuditFacts, Check, Graded } from './facts.ts';

/** Longer without a use is forgotten: it should be given again on purpose. */
const UNUSED_DAYS = 90;
const DAY_MS = 24 * 60 * 60_000;
/** By then a person has got the token of their sign-in, or somebody else has. */
const HANDED_OVER_DAYS = 7;
const HANDED_OVER_MS = HANDED_OVER_DAYS * DAY_MS;

export const ACCESS_CHECKS: readonly Check[] = [
  {
    id: 'access.direct-open',
    severity: 'warning',
    holds: 'Direct chats are not open to everyone.',
    remedy: 'Set access.direct to pairing or allowlist, unless everyone is meant.',
    find: (facts) => openAccounts(facts, 'direct').map((name) => `Everybody may write to ${name}.`),
  },
  {
    id: 'access.groups-open',
    severity: 'warning',
    holds: 'Groups are not open: a bot cannot choose who adds it to a group.',
    remedy: 'Set access.groups to allowlist and name the groups in allowGroups.',
    find: (facts) =>
      openAccounts(facts, 'groups').map((name) => `${name} answers in every group that adds it.`),
  },
  {
    id: 'access.no-cap',
    severity: 'critical',
    holds: 'Where access is open, strangers have a spend cap.',
    remedy:
      'Set spend.perStrangerDaily, or remove it: the default is 1,500,000 tokens and 1 US dollar a day.',
    find: (facts) => {
      const open = new Set([...openAccounts(facts, 'direct'), ...openAccounts(facts, 'groups')]);
      if (open.size === 0 || strangerCap(facts.settings.spend).cap !== null) return [];
      return [`Any stranger may use your model without a cap on ${[...open].join(', ')}.`];
    },
  },
  {
    id: 'access.always-in-open-groups',
    severity: 'warning',
    holds: 'In open groups the agent answers only when it is addressed.',
    remedy: 'Set activation to mention, or access.groups to allowlist.',
    find: (facts) =>
      accounts(facts)
        .filter(({ access, activation }) => access.groups === 'open' && activation === 'always')
        .map(({ name }) => `${name} answers every message in every group.`),
  },
  {
    id: 'access.live-mentions',
    severity: 'warning',
    holds: 'Answers cannot notify people by a mention.',
    remedy:
      'Set answers.mentions to dead: else anyone who writes to the agent can have everybody notified.',
    find: (facts) =>
      accounts(facts)
        .filter(({ answers }) => answers.mentions === 'live')
        .map(({ name }) => `Mentions in answers on ${name} notify people.`),
  },
  {
    id: 'access.unknown-owner',
    severity: 'warning',
    holds: 'Owners and approvers are people on a configured channel.',
    remedy: 'Correct the channel, or remove the entry: anyone who gets that id later is an owner.',
    find: ({ settings, knownChannels }) => {
      const named = [
        ...settings.owners.map((person) => ['owner', person] as const),
        ...settings.approvals.approvers.map((person) => ['approver', person] as const),
      ];
      return named
        .filter(([, person]) => !knownChannels.includes(person.split(':')[0] ?? ''))
        .map(([role, person]) => `The ${role} ${person} is on no configured channel.`);
    },
  },
  {
    id: 'access.approvers',
    severity: 'info',
    holds: 'Only owners approve tool calls.',
    remedy: 'Keep approvals.approvers short: each of them can approve what an owner is asked.',
    find: ({ settings }) =>
      settings.approvals.approvers
        .filter((person) => !settings.owners.includes(person))
        .map((person) => `${person} may approve tool calls and is no owner.`),
  },
  {
    id: 'access.old-pairings',
    severity: 'info',
    holds: `No pairing is unused for ${UNUSED_DAYS} days.`,
    remedy:
      'Nothing, if you know them. There is no command yet to take a pairing back; "access.direct: allowlist" does not count pairings.',
    find: (facts) =>
      facts.allowedPeople
        .filter((person) => isUnused(person, facts.now))
        .map(
          ({ personId, since }) =>
            `${personId} was paired on ${dayOf(since)} and has not written for ${UNUSED_DAYS} days.`,
        ),
  },
  {
    id: 'access.old-links',
    severity: 'info',
    holds: `No account is linked that has not been used for ${UNUSED_DAYS} days.`,
    remedy:
      'Take an account out of its link with "/link off channel:userId" if it is not yours any more.',
    find: (facts) =>
      facts.linked
        .filter((person) => isUnused(person, facts.now))
        .map(({ personId, since }) => `${personId} was linked on ${dayOf(since)} and is not used.`),
  },
  {
    id: 'access.page-exposed',
    severity: 'warning',
    holds: 'The web page is served to this machine alone.',
    remedy:
      'Set http.host to 127.0.0.1 and let a proxy with TLS serve it, or see that only such a proxy or a private network reaches the port.',
    find: ({ settings: { http, hooks } }) => {
      if (isLoopback(http.host)) return [];
      const page = `The page is served on ${http.host} without TLS: the token can be read on the way.`;
      const names = Object.keys(hooks).join(', ');
      return names === '' ? [page] : [page, `So can the tokens of the hooks ${names}.`];
    },
  },
  {
    id: 'access.weak-token',
    severity: 'critical',
    holds: 'The token of the web page has at least 32 characters that cannot be guessed.',
    remedy:
      'Make one with "openssl rand -hex 24", or remove http.token and the file "token": the next start makes one.',
    find: ({ token }) => {
      if (token === null) return [];
      if (token.length < 32) return [`The token has ${token.length} characters.`];
      const different = new Set(token).size;
      return different < 10 ? [`The token has only ${different} different characters.`] : [];
    },
  },
  {
    id: 'access.api-token',
    severity: 'critical',
    holds: 'The tokens of API clients cannot be guessed.',
    remedy: 'Make one for each with "openssl rand -hex 24", in a variable of the environment.',
    find: ({ settings }) =>
      Object.entries(settings.api.clients)
        .filter(([, { token }]) => new Set(token).size < 10)
        .map(
          ([name]) =>
            `The token of the API client ${name} has fewer than 10 characters that differ.`,
        ),
  },
  {
    id: 'access.api-owner',
    severity: 'info',
    holds: 'No client of the API speaks as the owner.',
    remedy:
      'Nothing, if that is meant: who has its token reads all that is private, and approves. Else remove "owner: true".',
    find: ({ settings }) =>
      Object.entries(settings.api.clients).flatMap(([name, { owner }]): (string | Graded)[] => {
        if (!owner) return [];
        const found = `The API client ${name} speaks as the owner`;
        if (isLoopback(settings.http.host)) return [`${found}.`];
        const way = `its token can be read on the way to ${settings.http.host}, which is without TLS`;
        return [{ found: `${found}, and ${way}.`, severity: 'warning' }];
      }),
  },
  {
    id: 'access.more-owners',
    severity: 'info',
    holds: 'No one but who has the token is an owner on the page.',
    remedy:
      'Nothing, if that is meant: an owner reads every private chat and changes all settings. "parley people revoke NAME" takes it back.',
    find: ({ signIns }) =>
      signIns
        .filter(({ role }) => role === 'owner')
        .map(({ name }) => `${name} is an owner on the page.`),
  },
  {
    id: 'access.unused-sign-in',
    severity: 'warning',
    holds: `Every named sign-in was used within ${HANDED_OVER_DAYS} days after it was added.`,
    remedy:
      'Revoke it with "parley people revoke NAME": its token lies in some message, and whoever finds it can sign in.',
    find: ({ signIns, now }) =>
      signIns
        .filter(({ usedAt, createdAt }) => usedAt === null && createdAt < now - HANDED_OVER_MS)
        .map(
          ({ name, role, createdAt }) =>
            `${name} (${role}) was added on ${dayOf(createdAt)} and never signed in.`,
        ),
  },
  {
    id: 'access.webhook-secret',
    severity: 'warning',
    holds: 'Webhooks have a secret of at least 24 characters.',
    remedy:
      'Make one with "openssl rand -hex 24": anyone who guesses it can write in the name of any user.',
    find: (facts) =>
      facts.webhooks.flatMap(({ name, secretLength }): (string | Graded)[] => {
        if (secretLength === 0) {
          return [{ found: `The webhook of ${name} has no secret.`, severity: 'critical' }];
        }
        if (secretLength >= 24) return [];
        return [`The secret of the webhook of ${name} has only ${secretLength} characters.`];
      }),
  },
  {
    id: 'access.weak-hook-token',
    severity: 'critical',
    holds: 'The tokens of hooks cannot be guessed, and no two hooks share one.',
    remedy:
      'Make one with "openssl rand -hex 24" for each: its holder can start turns of the agent.',
    find: ({ settings, token: ofPage }) => {
      const hooks = Object.entries(settings.hooks);
      const shared = ({ token }: (typeof hooks)[number][1]) =>
        token === ofPage || hooks.filter(([, other]) => other.token === token).length > 1;
      return hooks.flatMap(([name, hook]) => [
        ...(new Set(hook.token).size < 10
          ? [
              `The token of the hook ${name} has only ${new Set(hook.token).size} different characters.`,
            ]
          : []),
        ...(shared(hook) ? [`The token of the hook ${name} opens something else, too.`] : []),
      ]);
    },
  },
  {
    id: 'access.database-password',
    severity: 'warning',
    holds: 'PostgreSQL asks for a password.',
    remedy: 'Give its user a password, and put it into store.url from an environment variable.',
    find: ({ settings, postgresPassword }) =>
      postgresPassword ? [] : withoutPassword('PostgreSQL', settings.store.url, undefined),
  },
  {
    id: 'access.redis-password',
    severity: 'warning',
    holds: 'Redis asks for a password.',
    remedy: 'Set requirepass or an ACL user in Redis, and queue.password here.',
    find: ({ settings: { queue } }) => withoutPassword('Redis', queue.url, queue.password),
  },
  {
    id: 'access.servers-without-tls',
    severity: 'warning',
    holds: 'Connections to databases and Redis on other machines are encrypted.',
    remedy: 'Use rediss://, and sslmode=verify-full in store.url, unless the network is private.',
    find: ({ settings: { queue, store } }) => {
      const plain = [
        ...(queue.url?.startsWith('redis://') ? [['Redis', queue.url] as const] : []),
        ...(store.url !== undefined && !/[?&](ssl|sslmode)=(?!disable|false)/.test(store.url)
          ? [['PostgreSQL', store.url] as const]
          : []),
      ];
      return plain
        .filter(([, url]) => !isLoopback(hostOf(url)))
        .map(([server, url]) => `What goes to ${server} on ${hostOf(url)} can be read on the way.`);
    },
  },
];

export function isLoopback(host: string): boolean {
  return host === '' || /^(localhost|127(\.\d+){3}|\[?::1\]?|\/.*)$/.test(host);
}

/** The host of a URL; empty where it has none, as with a socket. */
export function hostOf(url: string): string {
  return URL.parse(url)?.hostname ?? '';
}

function withoutPassword(
  server: string,
  url: string | undefined,
  password: string | undefined,
): readonly Graded[] {
  if (url === undefined || password !== undefined || URL.parse(url)?.password) return [];
  const host = hostOf(url);
  if (isLoopback(host)) {
    const found = `${server} on this machine is used without a password: every program here reaches it.`;
    return [{ found, severity: 'info' }];
  }
  return [{ found: `${server} on ${host} is used without a password.`, severity: 'warning' }];
}

function accounts({ channels }: Pick<AuditFacts, 'channels'>) {
  return Object.values(channels).flatMap((one) =>
    one.kind === 'ok' ? [{ ...one, name: `${one.channel}/${one.account}` }] : [],
  );
}

function openAccounts(facts: AuditFacts, kind: 'direct' | 'groups'): readonly string[] {
  return accounts(facts)
    .filter(({ access }) => access[kind] === 'open')
    .map(({ name }) => name);
}

function isUnused({ since, lastDay }: AuditFacts['allowedPeople'][number], now: number): boolean {
  const last = Math.max(since, lastDay === null ? 0 : Date.parse(lastDay));
  return now - last > UNUSED_DAYS * DAY_MS;
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
