import type { AccountStatus } from '@parley/gateway';
import type { ProcessRole } from '@parley/store';
import { commandLine, type DataFolder } from './data-folder.ts';

/** What a person wants to know when Parley has started. */
export interface BannerFacts {
  readonly role: ProcessRole;
  readonly agent: { readonly name: string; readonly emoji?: string | undefined };
  /** Which model answers and why, in one sentence. */
  readonly model: string;
  readonly channels: readonly AccountStatus[];
  /** Address of the web server. */
  readonly address: string;
  /** Address that signs a browser in: for people, never for logs. */
  readonly signInAddress: string;
  /** The command that prints it. */
  readonly tokenCommand: string;
  /** The command that chats in a terminal. */
  readonly chatCommand: string;
  readonly dataFolder: string;
  readonly settingsFile: string;
  /** No model of the operator's choice answers yet. */
  readonly offline: boolean;
}

/** What is known of a running installation; the rest of the banner follows from it. */
export interface Running
  extends Pick<BannerFacts, 'role' | 'agent' | 'model' | 'channels' | 'address'> {
  readonly token: string;
  readonly folder: DataFolder;
}

/** Gathers the facts of the start banner. */
export function bannerFacts(running: Running): BannerFacts {
  const { role, agent, model, channels, address, token, folder } = running;
  return {
    role,
    agent,
    model,
    channels,
    offline: model.startsWith('offline'),
    address,
    signInAddress: signInAddress(address, token),
    tokenCommand: commandLine('token show', folder),
    chatCommand: commandLine('chat', folder),
    dataFolder: folder.path,
    settingsFile: folder.settingsFile,
  };
}

/** Behind `#`, since what stands there is sent to no server and stands in no log of one. */
export function signInAddress(address: string, token: string): string {
  return `${address}/#token=${encodeURIComponent(token)}`;
}

/**
 * The address under which this machine reaches a server that listens on all of its addresses:
 * `http://0.0.0.0:7411` cannot be opened in every browser. Other addresses stay as they are.
 */
export function reachableAddress(address: string): string {
  return address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/**
 * The start banner: agent, model, channels, address, folder, next step. Plain text, no colours. Only a
 * terminal is shown the token: what goes into a file or a journal stays there.
 */
export function banner(facts: BannerFacts, isTerminal: boolean): string {
  if (facts.role === 'worker') return workerBanner(facts);
  const { agent } = facts;
  const name = agent.emoji ? `${agent.emoji} ${agent.name}` : agent.name;
  const channels = facts.channels.map(
    (channel) => `  ${channelName(channel)}: ${channelLine(channel)}`,
  );
  return [
    '',
    facts.role === 'gateway'
      ? `Parley's gateway is running. ${name} answers when a worker runs, too.`
      : `Parley is running. ${name} is listening.`,
    '',
    `  Model     ${facts.model}`,
    `  Data      ${facts.dataFolder}`,
    `  Settings  ${facts.settingsFile}`,
    '',
    'Channels',
    ...channels,
    '',
    ...(isTerminal
      ? [`Chat now   ${facts.signInAddress}`]
      : [
          `Chat now   ${facts.address}`,
          `sign in    ${facts.tokenCommand}   (prints the address that does)`,
        ]),
    `or type    ${facts.chatCommand}   (in another terminal)`,
    ...nextSteps(facts),
    '',
    'Stop with Ctrl-C.',
    '',
  ].join('\n');
}

/** A worker talks to nobody: it has health and metrics to show, and no page. */
function workerBanner({ model, dataFolder, settingsFile, address }: BannerFacts): string {
  return [
    '',
    "Parley's worker is running.",
    '',
    `  Model     ${model}`,
    `  Data      ${dataFolder}`,
    `  Settings  ${settingsFile}`,
    `  Address   ${address}   (/healthz, /readyz, /metrics)`,
    '',
    'Stop with Ctrl-C.',
    '',
  ].join('\n');
}

function nextSteps(facts: BannerFacts): string[] {
  const steps: string[] = [];
  if (facts.offline)
    steps.push(
      `connect a model: uncomment "model" in ${facts.settingsFile}, or start a local server such as Ollama`,
    );
  const elsewhere = facts.channels.some(
    ({ channel }) => channel !== 'web' && channel !== 'terminal',
  );
  if (!elsewhere)
    steps.push(`connect Telegram: put a bot token under "channels" in ${facts.settingsFile}`);
  return steps.map((step, index) => `${index === 0 ? 'Next       ' : '           '}${step}`);
}

function channelName({ channel, account }: AccountStatus): string {
  return account === 'default' ? channel : `${channel}/${account}`;
}

/** How a channel account is doing, in one line for people. */
export function channelLine({ state }: AccountStatus): string {
  switch (state.kind) {
    case 'starting':
      return 'connecting';
    case 'pairing':
      return 'waits to be linked: scan its code, here or on the web page, with the phone';
    case 'connected':
      return `connected as ${state.as}`;
    case 'standby':
      return `stands by: ${state.holder} is connected`;
    case 'retrying':
      return `not connected, tries again: ${state.reason}`;
    case 'failed':
      return `not working: ${sentence(state.reason)} ${state.mend}`;
    case 'stopped':
      return 'stopped';
  }
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Where codes are drawn: standard output, as far as it matters here. */
export interface Screen {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

/** Draws the codes that phones scan to link an account, while `parley start` runs. */
export interface PairingScreen {
  /** Hears of every state of every account. */
  note(status: AccountStatus): void;
  /** The banner is printed: from now on codes are drawn. Resolves when those there are have been. */
  open(): Promise<void>;
}

/** A code lives for 20 s to a minute; after so many nobody is looking, and the terminal is left alone. */
const DRAWN_AT_MOST = 6;

/**
 * Makes the screen. A code is as good as a key, so it is drawn for people at a terminal only: what is
 * not a terminal is often a log.
 */
export function createPairingScreen(screen: Screen): PairingScreen {
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
        : `\n${await drawCode(state.code)}\nScan this with the phone to link ${channel}. A new code follows when it has expired.\n`,
    );
  };
  return {
    note(status) {
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
    async open() {
      isOpen = true;
      for (const [name, status] of waiting) await draw(name, status);
    },
  };
}

/** A code as lines for a terminal, dark on light whatever its colours are. The library is loaded here. */
export async function drawCode(code: string): Promise<string> {
  const { default: qrcode } = await import('qrcode');
  return qrcode.toString(code, { type: 'terminal', small: true, errorCorrectionLevel: 'L' });
}
