import { setTimeout as sleep } from 'node:timers/promises';
import { defectsText } from '@parley/core';
import type { AccountStatus, Gateway } from '@parley/gateway';
import type { ProcessRole } from '@parley/store';
import { commandLine, type DataFolder } from './data-folder.ts';
import { minuteText } from './terminal/text.ts';

export interface Running {
  readonly role: ProcessRole;
  readonly agent: { readonly name: string; readonly emoji?: string | undefined };
  readonly model: string;
  readonly channels: readonly AccountStatus[];
  readonly address: string;
  /** The token for the web page. It is shown to people but never logged. */
  readonly token: string;
  readonly folder: DataFolder;
}

/**
 * The token follows `#` because browsers do not send that part to servers, so it appears in no
 * server log.
 */
export function signInAddress(address: string, token: string): string {
  return `${address}/#token=${encodeURIComponent(token)}`;
}

/**
 * Replaces the wildcard address of a server that listens on all interfaces: not every browser opens
 * `http://0.0.0.0:7411`.
 */
export function reachableAddress(address: string): string {
  return address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/**
 * The startup banner, as plain text without colors. The token is shown only in a terminal, because
 * redirected output is stored in a file.
 */
export function banner(running: Running, isTerminal: boolean): string {
  if (running.role === 'worker') return workerBanner(running);
  const { role, agent, model, address, token, folder } = running;
  const name = agent.emoji ? `${agent.emoji} ${agent.name}` : agent.name;
  return [
    '',
    role === 'gateway'
      ? `Parley's gateway is running. ${name} answers once a worker is running, too.`
      : `Parley is running. ${name} is listening.`,
    '',
    `  Model     ${model}`,
    `  Data      ${folder.path}`,
    `  Settings  ${folder.settingsFile}`,
    '',
    'Channels',
    ...running.channels.map((channel) => `  ${channelName(channel)}: ${channelLine(channel)}`),
    '',
    ...(isTerminal
      ? [`Chat now   ${signInAddress(address, token)}`]
      : [
          `Chat now   ${address}`,
          `sign in    ${commandLine('token show', folder)}   (prints the sign-in link)`,
        ]),
    `or type    ${commandLine('chat', folder)}   (in another terminal)`,
    ...nextSteps(running),
    '',
    'Stop with Ctrl-C.',
    '',
  ].join('\n');
}

/** A worker has no channels and no page; it serves health and metrics. */
function workerBanner({ model, folder, address }: Running): string {
  return [
    '',
    "Parley's worker is running.",
    '',
    `  Model     ${model}`,
    `  Data      ${folder.path}`,
    `  Settings  ${folder.settingsFile}`,
    `  Address   ${address}   (/healthz, /readyz, /metrics)`,
    '',
    'Stop with Ctrl-C.',
    '',
  ].join('\n');
}

function nextSteps({ model, channels, folder }: Running): string[] {
  const missing = [
    ...(model.startsWith('offline') ? ['a model'] : []),
    ...(channels.some(({ channel }) => channel !== 'web' && channel !== 'terminal')
      ? []
      : ['a channel']),
  ];
  if (missing.length === 0) return [];
  const what = `connect ${missing.join(' and ')}`;
  return [`Next       ${what}: "Set up" on the page, or ${commandLine('setup', folder)}`];
}

function channelName({ channel, account }: AccountStatus): string {
  return account === 'default' ? channel : `${channel}/${account}`;
}

export function channelLine({ state, defects }: AccountStatus): string {
  const line = stateLine(state);
  return defects === undefined ? line : `${line} (its adapter has ${defectsText(defects)})`;
}

function stateLine(state: AccountStatus['state']): string {
  switch (state.kind) {
    case 'starting':
      return 'connecting';
    case 'pairing':
      return `waiting to be linked: ${state.how} its code, here or on the web page, ${state.how === 'scan' ? 'with' : 'on'} the phone`;
    case 'connected':
      return `connected as ${state.as}`;
    case 'standby':
      return `standby: ${state.holder} is connected`;
    case 'retrying':
      return `not connected, retrying: ${state.reason}`;
    case 'failed':
      return `not working: ${sentence(state.reason)} ${state.fix}`;
    case 'paused':
      return `paused by ${state.by} since ${minuteText(state.since)}`;
    case 'stopped':
      return 'stopped';
  }
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

interface Screen {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

/**
 * The maximum number of codes drawn if no one scans them. Each one is valid for 20 s to a minute.
 */
const DRAWN_AT_MOST = 6;

/**
 * Shows the codes that link an account to a phone, starting with `open`, which is called once the
 * banner is printed. A code is as sensitive as a key, so it is shown only in a terminal: other
 * output often ends up in a log.
 */
export function createPairingScreen(screen: Screen) {
  const waiting = new Map<string, AccountStatus>();
  const drawn = new Map<string, number>();
  let isOpen = false;
  const draw = async (name: string, { channel, state }: AccountStatus): Promise<void> => {
    if (state.kind !== 'pairing' || !screen.isTTY) return;
    const times = (drawn.get(name) ?? 0) + 1;
    drawn.set(name, times);
    if (times > DRAWN_AT_MOST + 1) return;
    screen.write(
      times > DRAWN_AT_MOST
        ? `\n${channel} still waits to be linked: the web page and "parley status" show its code.\n`
        : `\n${await linkText(channel, state)} When this code expires, a new one is shown.\n`,
    );
  };
  return {
    note(status: AccountStatus): void {
      const name = `${status.channel}/${status.account}`;
      waiting.set(name, status);
      if (!isOpen) return;
      if (status.state.kind === 'connected' && drawn.delete(name)) {
        screen.write(`\n${status.channel} is linked: connected as ${status.state.as}.\n`);
      }
      draw(name, status).catch(() => {
        screen.write(`\nThe code of ${name} cannot be drawn here; the web page shows it.\n`);
      });
    },
    async open(): Promise<void> {
      isOpen = true;
      for (const [name, status] of waiting) await draw(name, status);
    },
  };
}

/**
 * Prints instructions for the accounts that are waiting to be linked. Prints nothing when the
 * output is not a terminal that someone is reading.
 */
export async function printLinks(
  { print }: { readonly print: (text: string) => void },
  accounts: readonly Pick<AccountStatus, 'channel' | 'state'>[],
): Promise<void> {
  for (const { channel, state } of accounts) {
    if (state.kind !== 'pairing' || state.code === '' || !process.stdout.isTTY) continue;
    print(await linkText(channel, state));
  }
}

/** Instructions for linking an account. Only for terminals: the code is as sensitive as a key. */
export async function linkText(
  channel: string,
  { code, how }: Extract<AccountStatus['state'], { kind: 'pairing' }>,
): Promise<string> {
  if (how === 'scan')
    return `${await drawCode(code)}\nScan this with the phone to link ${channel}.`;
  return `${code}\nType this on the phone to link ${channel}: Settings, Linked devices, Link a device, Link with phone number instead.`;
}

/**
 * Draws a code as lines of text, dark on light whatever the terminal's colors are. The library is
 * loaded on first use.
 */
async function drawCode(code: string): Promise<string> {
  const { default: qrcode } = await import('qrcode');
  return qrcode.toString(code, { type: 'terminal', small: true, errorCorrectionLevel: 'L' });
}

/** How long the startup banner waits for channels that are still connecting, in ms. */
const TIMEOUT_MS = 500;
const POLL_INTERVAL_MS = 20;

/**
 * Resolves to the states of all channels once none of them is still connecting, or after the
 * timeout.
 */
export async function firstStates(
  gateway: Pick<Gateway, 'status'>,
): Promise<readonly AccountStatus[]> {
  for (let waited = 0; waited < TIMEOUT_MS; waited += POLL_INTERVAL_MS) {
    if (gateway.status().every(({ state }) => state.kind !== 'starting')) break;
    await sleep(POLL_INTERVAL_MS);
  }
  return gateway.status();
}
