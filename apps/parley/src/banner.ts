import { setTimeout as sleep } from 'node:timers/promises';
import { describeDefects } from '@parley/core';
import type { AccountStatus, Gateway } from '@parley/gateway';
import type { ProcessRole } from '@parley/store';
import { type DataFolder, formatCommandLine } from './data-folder.ts';
import { formatMinute } from './terminal/text.ts';

export interface BannerInfo {
  readonly role: ProcessRole;
  readonly agent: { readonly name: string; readonly emoji?: string | undefined };
  readonly model: string;
  readonly channels: readonly AccountStatus[];
  readonly address: string;
  /** The access token for the web page. The token is shown to people but never logged. */
  readonly token: string;
  readonly folder: DataFolder;
}

/**
 * The token follows `#` because browsers do not send the fragment to servers, so it appears in no
 * server log.
 */
export function toSignInUrl(address: string, token: string): string {
  return `${address}/#token=${encodeURIComponent(token)}`;
}

/**
 * Replaces the wildcard address of a server that listens on all interfaces, because some browsers
 * cannot open `http://0.0.0.0:7411`.
 */
export function toReachableUrl(address: string): string {
  return address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/**
 * Formats the startup banner as plain text without colors. The token is shown only in a terminal,
 * because redirected output may be stored in a file.
 */
export function formatBanner(running: BannerInfo, isTerminal: boolean): string {
  if (running.role === 'worker') return formatWorkerBanner(running);
  const { role, agent, model, address, token, folder } = running;
  const name = agent.emoji ? `${agent.emoji} ${agent.name}` : agent.name;
  return [
    '',
    role === 'gateway'
      ? `Parley's gateway is running. ${name} answers once a worker is running.`
      : `Parley is running. ${name} is listening.`,
    '',
    `  Model     ${model}`,
    `  Data      ${folder.path}`,
    `  Settings  ${folder.settingsFile}`,
    '',
    'Channels',
    ...running.channels.map(
      (channel) => `  ${formatChannelName(channel)}: ${formatChannelLine(channel)}`,
    ),
    '',
    ...(isTerminal
      ? [`Chat now   ${toSignInUrl(address, token)}`]
      : [
          `Chat now   ${address}`,
          `sign in    ${formatCommandLine('token show', folder)}   (prints the sign-in link)`,
        ]),
    `or type    ${formatCommandLine('chat', folder)}   (in another terminal)`,
    ...listNextSteps(running),
    '',
    'Stop with Ctrl-C.',
    '',
  ].join('\n');
}

/** A worker has no channels and no page. Workers serve only health and metrics. */
function formatWorkerBanner({ model, folder, address }: BannerInfo): string {
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

function listNextSteps({ model, channels, folder }: BannerInfo): string[] {
  const missing = [
    ...(model.startsWith('offline') ? ['a model'] : []),
    ...(channels.some(({ channel }) => channel !== 'web' && channel !== 'terminal')
      ? []
      : ['a channel']),
  ];
  if (missing.length === 0) return [];
  const what = `connect ${missing.join(' and ')}`;
  return [`Next       ${what}: "Set up" on the page, or ${formatCommandLine('setup', folder)}`];
}

function formatChannelName({ channel, account }: AccountStatus): string {
  return account === 'default' ? channel : `${channel}/${account}`;
}

export function formatChannelLine({ state, defects }: AccountStatus): string {
  const line = describeState(state);
  return defects === undefined ? line : `${line} (its adapter has ${describeDefects(defects)})`;
}

function describeState(state: AccountStatus['state']): string {
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
      return `not working: ${toSentence(state.reason)} ${state.fix}`;
    case 'paused':
      return `paused by ${state.by} since ${formatMinute(state.since)}`;
    case 'stopped':
      return 'stopped';
  }
}

function toSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

interface TerminalScreen {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

/**
 * The maximum number of codes drawn when no one scans them. Each code is valid for 20 s to a
 * minute.
 */
const DRAWN_AT_MOST = 6;

/**
 * Shows the codes that link an account to a phone. Codes are held back until `open` is called,
 * after the banner. A code is as sensitive as a key, so it is shown only in a terminal: other
 * output often ends up in a log.
 */
export function createPairingScreen(screen: TerminalScreen) {
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
        ? `\n${channel} is still waiting to be linked: the web page and "parley status" show its code.\n`
        : `\n${await formatLinkingInstructions(channel, state)} When this code expires, a new one is shown.\n`,
    );
  };
  return {
    note(status: AccountStatus): void {
      const name = `${status.channel}/${status.account}`;
      waiting.set(name, status);
      if (!isOpen) return;
      if (status.state.kind === 'connected' && drawn.delete(name)) {
        screen.write(`\n${status.channel} is linked and connected as ${status.state.as}.\n`);
      }
      draw(name, status).catch(() => {
        screen.write(`\nThe code for ${name} cannot be drawn here; the web page shows it.\n`);
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
 * output is not a terminal.
 */
export async function printLinkingInstructions(
  { print }: { readonly print: (text: string) => void },
  accounts: readonly Pick<AccountStatus, 'channel' | 'state'>[],
): Promise<void> {
  for (const { channel, state } of accounts) {
    if (state.kind !== 'pairing' || state.code === '' || !process.stdout.isTTY) continue;
    print(await formatLinkingInstructions(channel, state));
  }
}

/**
 * Formats the instructions for linking an account. The text is only for terminals, because the code
 * is as sensitive as a key.
 */
export async function formatLinkingInstructions(
  channel: string,
  { code, how }: Extract<AccountStatus['state'], { kind: 'pairing' }>,
): Promise<string> {
  if (how === 'scan')
    return `${await renderQrCode(code)}\nScan this with the phone to link ${channel}.`;
  return `${code}\nType this on the phone to link ${channel}: Settings, Linked devices, Link a device, Link with phone number instead.`;
}

/**
 * Draws a code as lines of text, dark on light whatever the terminal's colors are. The QR code
 * library is loaded on first use.
 */
async function renderQrCode(code: string): Promise<string> {
  const { default: qrcode } = await import('qrcode');
  return qrcode.toString(code, { type: 'terminal', small: true, errorCorrectionLevel: 'L' });
}

/** How long (ms) the startup banner waits for channels that are still connecting. */
const TIMEOUT_MS = 500;
const POLL_INTERVAL_MS = 20;

/**
 * Resolves to the states of all channels when none of them is still connecting, or after the
 * timeout.
 */
export async function waitForFirstStates(
  gateway: Pick<Gateway, 'status'>,
): Promise<readonly AccountStatus[]> {
  for (let waited = 0; waited < TIMEOUT_MS; waited += POLL_INTERVAL_MS) {
    if (gateway.status().every(({ state }) => state.kind !== 'starting')) break;
    await sleep(POLL_INTERVAL_MS);
  }
  return gateway.status();
}
