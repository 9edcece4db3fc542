import { escapeAmbiguousCharacters } from '@parley/agent/shown-arguments';
import { pluralize, type Role } from '@parley/core';
import type { OutputOf } from '@parley/gateway/operations';
import type { Approval } from '@parley/store';
import { z } from 'zod';
import { toReachableUrl, toSignInUrl } from '../banner.ts';
import { type CliContext, formatJson, reportNotRunning } from '../cli.ts';
import { CliError, formatCommandLine, readToken, replaceToken } from '../data-folder.ts';
import { operateAndPrint } from '../operate.ts';
import { askGateway, findGateway } from '../running-gateway.ts';
import { type LoadedSettings, readSettings } from '../settings.ts';
import { formatMinute, formatSecond, stripControlCharacters } from '../terminal/text.ts';

/**
 * `parley token show`: prints the sign-in link for a browser. The link contains the token, so this
 * command deliberately prints a secret.
 */
export async function showToken({ folder, env, print, json }: CliContext): Promise<number> {
  const { http } = readSettings(folder, env).settings;
  const gateway = await findGateway(folder, env);
  const token = http.token ?? readToken(folder);
  if (token === null) {
    print(`There is no token yet; the first "${formatCommandLine('start', folder)}" creates one.`);
    return 3;
  }
  const address = toSignInUrl(gateway?.address ?? getGatewayAddress(http), token);
  print(json ? formatJson({ address }) : address);
  return 0;
}

/** Returns the address at which a gateway with these settings would listen. */
function getGatewayAddress({ host, port }: LoadedSettings['settings']['http']): string {
  return toReachableUrl(`http://${host.includes(':') ? `[${host}]` : host}:${port}`);
}

/** `parley people`: lists the people who have their own sign-in. */
export function listPeople(cli: CliContext): Promise<number> {
  return operateAndPrint(cli, 'people/list', {}, ({ people }) => {
    const lines = people.map(({ name, role, createdAt, usedAt }) => {
      const used = usedAt === null ? 'never used' : `used ${formatMinute(usedAt)}`;
      return `${name}  ${role}, ${used}, added ${formatMinute(createdAt)}`;
    });
    return lines.join('\n') || 'No one has been added, so only the token signs in.';
  });
}

/** `parley people add`: prints the new person's sign-in link, which is never shown again. */
export async function addPerson(cli: CliContext, name: string, role: Role): Promise<number> {
  const gateway = await findGateway(cli.folder, cli.env);
  const address =
    gateway?.address ?? getGatewayAddress(readSettings(cli.folder, cli.env).settings.http);
  return operateAndPrint(
    cli,
    'people/add',
    { name, role },
    (added) =>
      `${added.name} may sign in as ${added.role}. Pass this address on privately; it is shown only now:\n` +
      `${toSignInUrl(address, added.token)}\n` +
      `Programs send its last part as "Authorization: Bearer parley_signin_…".`,
  );
}

/**
 * `parley people revoke`: invalidates the person's sign-in token and ends the person's sessions.
 */
export function revokePerson(cli: CliContext, name: string): Promise<number> {
  return operateAndPrint(
    cli,
    'people/revoke',
    { name },
    ({ ended }) => `${name} is revoked; ${pluralize(ended, 'session')} ended.`,
  );
}

/**
 * `parley token rotate`: replaces the token and ends the sessions that the old token opened.
 * Gateways on this data folder notice that the file changed. If the token is set in the settings,
 * it has to be changed there.
 */
export async function rotateToken(cli: CliContext): Promise<number> {
  const { folder, env } = cli;
  if (readSettings(folder, env).settings.http.token !== undefined) {
    throw new CliError(
      'token-in-settings',
      `The token is http.token in ${folder.settingsFile}. Replace it there ("openssl rand -hex 24" generates one) and restart the gateways. That also ends the sessions that the old token opened.`,
    );
  }
  replaceToken(folder);
  return endSessionsAndReport(
    cli,
    'all',
    (ended) =>
      `There is a new token, and the old one no longer works; ${ended} ended.\n` +
      `"${formatCommandLine('token show', folder)}" prints the new address.`,
  );
}

/** `parley sessions`: lists the signed-in browsers. */
export function listSessions(cli: CliContext): Promise<number> {
  return operateAndPrint(
    cli,
    'sessions/list',
    {},
    ({ sessions }) => sessions.map(formatSession).join('\n') || 'No browser is signed in.',
  );
}

const Opened = z.object({ session: z.string(), expiresAt: z.number() });

/**
 * `parley sessions new`: prints a link that signs one browser in. The link contains a secret.
 * Unlike the token, the link expires and can be revoked individually.
 */
export async function createSession(cli: CliContext): Promise<number> {
  const { folder, env, print, json } = cli;
  const gateway = await findGateway(folder, env);
  if (gateway === null) return reportNotRunning(cli);
  const { token } = gateway;
  const answer = await askGateway<unknown>(gateway, '/api/sessions', { body: { token } });
  const { session, expiresAt } = Opened.parse(answer);
  const signIn = toSignInUrl(gateway.address, session);
  if (json) print(formatJson({ address: signIn, expiresAt }));
  else
    print(
      `${signIn}\nOpen it in one browser by ${formatMinute(expiresAt)}; each use extends the session. "${formatCommandLine('sessions', folder)}" lists it.`,
    );
  return 0;
}

/**
 * `parley sessions end`: from then on, gateways refuse the session's requests, and they close its
 * streams within seconds.
 */
export function endSessions(cli: CliContext, which: string): Promise<number> {
  return endSessionsAndReport(cli, which, (ended) => `${ended} ended.`);
}

function endSessionsAndReport(
  cli: CliContext,
  id: string,
  say: (ended: string) => string,
): Promise<number> {
  return operateAndPrint(cli, 'sessions/end', { id }, ({ ended }) =>
    say(pluralize(ended, 'session')),
  );
}

type ListedSession = OutputOf<'sessions/list'>['sessions'][number];

const FROM: Readonly<Record<ListedSession['network'], string>> = {
  'this-machine': 'from this machine',
  'local-network': 'from the local network',
  internet: 'from the internet',
  proxy: 'by a proxy',
};

function formatSession(session: ListedSession): string {
  const { id, person, network, createdAt, usedAt, expiresAt, userAgent } = session;
  return [
    `${id}  ${person === null ? '' : `${person}, `}used ${formatMinute(usedAt)}, signed in ${formatMinute(createdAt)} ${FROM[network]}, until ${formatMinute(expiresAt)}`,
    `              ${stripControlCharacters(userAgent) || 'an unknown browser'}`,
  ].join('\n');
}

/**
 * `parley approvals`: lists the approval requests, the people who were asked, the decisions and the
 * outcomes.
 */
export function listApprovals(cli: CliContext, limit: number): Promise<number> {
  return operateAndPrint(cli, 'approvals/list', { limit }, ({ approvals }) =>
    formatApprovals(approvals),
  );
}

const STATES: Readonly<Record<Approval['state'], string>> = {
  pending: 'waits',
  approved: 'allowed',
  denied: 'refused',
  answered: 'answered',
  expired: 'not answered',
  withdrawn: 'stopped',
  auto: 'allowed by the settings',
};

/**
 * Formats the approval requests, oldest first, each with its time, requester, tool call, decision
 * and outcome.
 */
export function formatApprovals(newestFirst: readonly Approval[]): string {
  if (newestFirst.length === 0) return 'No one has been asked for an approval yet.';
  return [...newestFirst].reverse().map(formatApproval).join('\n');
}

function formatApproval(approval: Approval): string {
  const { askedAt, code, tool, shown, askedBy, place, state, decidedBy, decidedAt } = approval;
  const by = decidedBy === null ? '' : ` by ${decidedBy}`;
  const at = decidedAt === null ? '' : ` at ${formatSecond(decidedAt)}`;
  // Ids and names are untrusted and may contain terminal control characters.
  const head = escapeAmbiguousCharacters(
    `${formatSecond(askedAt)}  ${code}  ${tool} for ${askedBy} (${place}): ${STATES[state]}${by}${at}${describeApprovalOutcome(approval)}`,
  );
  return [head, ...shown.split('\n').map((line) => `    ${line}`)].join('\n');
}

/**
 * Describes the expiry and the other approvers of a pending request, or the outcome of the approved
 * call.
 */
function describeApprovalOutcome({ state, expiresAt, approvers, result }: Approval): string {
  switch (state) {
    case 'pending':
      return ` until ${formatSecond(expiresAt)} for an owner${approvers.map((one) => ` or ${one}`).join('')}`;
    case 'approved':
    case 'auto':
      if (result === 'done') return '; the call worked';
      // An interrupted call does not count as a success, because its outcome is unknown.
      if (result === 'failed') return '; the call failed or was cut off';
      return '; the outcome of the call is not known yet';
    case 'answered':
      return '';
    case 'denied':
    case 'expired':
    case 'withdrawn':
      return '; the call was not run';
  }
}
