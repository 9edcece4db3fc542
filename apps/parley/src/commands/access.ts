import { writtenOut } from '@parley/agent/shown-arguments';
import { countOf, type Role } from '@parley/core';
import type { OutputOf } from '@parley/gateway/operations';
import type { Approval } from '@parley/store';
import { z } from 'zod';
import { reachableAddress, signInAddress } from '../banner.ts';
import { type Cli, jsonText, notRunning } from '../cli.ts';
import { CliError, commandLine, readToken, replaceToken } from '../data-folder.ts';
import { operate } from '../operate.ts';
import { askGateway, findGateway } from '../running-gateway.ts';
import { type LoadedSettings, readSettings } from '../settings.ts';
import { minuteText, secondText, visible } from '../terminal/text.ts';

/**
 * `parley token show`: prints the address that signs a browser in. The address contains the token,
 * so this deliberately prints a secret.
 */
export async function showToken({ folder, env, print, json }: Cli): Promise<number> {
  const { http } = readSettings(folder, env).settings;
  const gateway = await findGateway(folder, env);
  const token = http.token ?? readToken(folder);
  if (token === null) {
    print(`There is no token yet; the first "${commandLine('start', folder)}" creates one.`);
    return 3;
  }
  const address = signInAddress(gateway?.address ?? gatewayAddress(http), token);
  print(json ? jsonText({ address }) : address);
  return 0;
}

/** The address on which a gateway with these settings would listen. */
function gatewayAddress({ host, port }: LoadedSettings['settings']['http']): string {
  return reachableAddress(`http://${host.includes(':') ? `[${host}]` : host}:${port}`);
}

/** `parley people`: lists everyone who has their own sign-in. */
export function listPeople(cli: Cli): Promise<number> {
  return operate(cli, 'people/list', {}, ({ people }) => {
    const lines = people.map(({ name, role, createdAt, usedAt }) => {
      const used = usedAt === null ? 'never used' : `used ${minuteText(usedAt)}`;
      return `${name}  ${role}, ${used}, added ${minuteText(createdAt)}`;
    });
    return lines.join('\n') || 'Only the token signs in: no one has been added.';
  });
}

/** `parley people add`: prints the new person's sign-in secret, which is never shown again. */
export async function addPerson(cli: Cli, name: string, role: Role): Promise<number> {
  const gateway = await findGateway(cli.folder, cli.env);
  const address =
    gateway?.address ?? gatewayAddress(readSettings(cli.folder, cli.env).settings.http);
  return operate(
    cli,
    'people/add',
    { name, role },
    (added) =>
      `${added.name} may sign in as ${added.role}. Pass this address on privately; it is shown only now:\n` +
      `${signInAddress(address, added.token)}\n` +
      `Programs send its last part as "Authorization: Bearer parley_signin_…".`,
  );
}

/** `parley people revoke`: invalidates the person's sign-in token and ends their sessions. */
export function revokePerson(cli: Cli, name: string): Promise<number> {
  return operate(
    cli,
    'people/revoke',
    { name },
    ({ ended }) => `${name} is revoked; ${countOf(ended, 'session')} ended.`,
  );
}

/**
 * `parley token rotate`: replaces the token and ends the sessions that the old one opened. Gateways
 * on this data folder notice that the file changed. A token from the settings has to be changed
 * there.
 */
export async function rotateToken(cli: Cli): Promise<number> {
  const { folder, env } = cli;
  if (readSettings(folder, env).settings.http.token !== undefined) {
    throw new CliError(
      'token-in-settings',
      `The token is http.token in ${folder.settingsFile}: replace it there ("openssl rand -hex 24" generates one) and restart the gateways. The sessions that it opened end with it.`,
    );
  }
  replaceToken(folder);
  return endThen(
    cli,
    'all',
    (ended) =>
      `There is a new token, and the old one no longer works; ${ended} ended.\n` +
      `"${commandLine('token show', folder)}" prints the new address.`,
  );
}

/** `parley sessions`: lists the signed-in browsers. */
export function listSessions(cli: Cli): Promise<number> {
  return operate(
    cli,
    'sessions/list',
    {},
    ({ sessions }) => sessions.map(sessionLine).join('\n') || 'No browser is signed in.',
  );
}

const Opened = z.object({ session: z.string(), expiresAt: z.number() });

/**
 * `parley sessions new`: prints an address that signs one browser in. The address contains a
 * secret. Unlike the token, it expires and can be revoked individually.
 */
export async function newSession(cli: Cli): Promise<number> {
  const { folder, env, print, json } = cli;
  const gateway = await findGateway(folder, env);
  if (gateway === null) return notRunning(cli);
  const { token } = gateway;
  const answer = await askGateway<unknown>(gateway, '/api/sessions', { body: { token } });
  const { session, expiresAt } = Opened.parse(answer);
  const signIn = signInAddress(gateway.address, session);
  if (json) print(jsonText({ address: signIn, expiresAt }));
  else
    print(
      `${signIn}\nOpen it in one browser by ${minuteText(expiresAt)}; each use extends the session. "${commandLine('sessions', folder)}" lists it.`,
    );
  return 0;
}

/**
 * `parley sessions end`: gateways refuse the session's next request and close its streams within
 * seconds.
 */
export function endSessions(cli: Cli, which: string): Promise<number> {
  return endThen(cli, which, (ended) => `${ended} ended.`);
}

function endThen(cli: Cli, id: string, say: (ended: string) => string): Promise<number> {
  return operate(cli, 'sessions/end', { id }, ({ ended }) => say(countOf(ended, 'session')));
}

type ShownSession = OutputOf<'sessions/list'>['sessions'][number];

const FROM: Readonly<Record<ShownSession['network'], string>> = {
  'this-machine': 'from this machine',
  'local-network': 'from the local network',
  internet: 'from the internet',
  proxy: 'by a proxy',
};

function sessionLine(session: ShownSession): string {
  const { id, person, network, createdAt, usedAt, expiresAt, userAgent } = session;
  return [
    `${id}  ${person === null ? '' : `${person}, `}used ${minuteText(usedAt)}, signed in ${minuteText(createdAt)} ${FROM[network]}, until ${minuteText(expiresAt)}`,
    `              ${visible(userAgent) || 'an unknown browser'}`,
  ].join('\n');
}

/** `parley approvals`: lists the requests with who was asked, who decided, and the outcome. */
export function approvals(cli: Cli, limit: number): Promise<number> {
  return operate(cli, 'approvals/list', { limit }, ({ approvals }) => approvalsText(approvals));
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
 * The approval requests, oldest first: when and for whom each was made, its tool call, who decided,
 * and the outcome.
 */
export function approvalsText(newestFirst: readonly Approval[]): string {
  if (newestFirst.length === 0) return 'No one has been asked for an approval yet.';
  return [...newestFirst].reverse().map(approvalEntry).join('\n');
}

function approvalEntry(approval: Approval): string {
  const { askedAt, code, tool, shown, askedBy, place, state, decidedBy, decidedAt } = approval;
  const by = decidedBy === null ? '' : ` by ${decidedBy}`;
  const at = decidedAt === null ? '' : ` at ${secondText(decidedAt)}`;
  // Ids and names are untrusted and may contain terminal control characters.
  const head = writtenOut(
    `${secondText(askedAt)}  ${code}  ${tool} for ${askedBy} (${place}): ${STATES[state]}${by}${at}${approvalEnding(approval)}`,
  );
  return [head, ...shown.split('\n').map((line) => `    ${line}`)].join('\n');
}

/** The expiry and the other approvers of a pending request, or the outcome of the call. */
function approvalEnding({ state, expiresAt, approvers, result }: Approval): string {
  switch (state) {
    case 'pending':
      return ` until ${secondText(expiresAt)} for an owner${approvers.map((one) => ` or ${one}`).join('')}`;
    case 'approved':
    case 'auto':
      if (result === 'done') return '; the call worked';
      // An interrupted call does not count as a success; its outcome is unknown.
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
