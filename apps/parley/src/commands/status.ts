import { askRunning } from '../ask-gateway.ts';
import { channelLine } from '../banner.ts';
import { commandLine } from '../command-line.ts';
import type { DataFolder } from '../data-folder.ts';
import { type FoundGateway, findGateway } from '../find-gateway.ts';
import { drawCode } from '../pairing-screen.ts';
import { GatewayStatus } from '../status-report.ts';

const WORKS: ReadonlySet<string> = new Set(['connected', 'standby']);

/** `parley status`: how the gateway on this data folder is doing; 0 when it and all its channels work. */
export async function status(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  print: (text: string) => void,
): Promise<number> {
  const gateway = await findGateway(folder, env);
  if (gateway === null) {
    print(`No Parley runs on ${folder.path}. Start it with "${commandLine('start', folder)}".`);
    return 3;
  }
  const report = await askGateway(gateway);
  print([...statusLines(report, gateway.address), ...deadLines(report, folder)].join('\n'));
  for (const { channel, state } of report.channels) {
    if (state.kind !== 'pairing' || !process.stdout.isTTY) continue;
    print(`${await drawCode(state.code)}\nScan this with the phone to link ${channel}.`);
  }
  const isWhole = report.channels.every(({ state }) => WORKS.has(state.kind));
  const fits = report.processes.every(({ notes }) => notes.length === 0);
  return isWhole && fits && report.health.status !== 'down' ? 0 : 1;
}

/** How the running gateway does. Throws CliError when it does not tell. */
export function askGateway(gateway: FoundGateway): Promise<GatewayStatus> {
  return askRunning(gateway, { path: '/api/status', answer: GatewayStatus });
}

function statusLines(report: GatewayStatus, address: string): readonly string[] {
  const { health, trouble, turns, today, outbox } = report;
  return [
    `${report.agent} at ${address}`,
    `health    ${[health.status, ...health.reasons].join('; ')}`,
    ...(trouble === undefined ? [] : [`database  ${trouble}`]),
    `model     ${report.model}`,
    `data      ${report.dataFolder}`,
    ...report.channels.map(
      (channel) => `channel   ${channel.channel}/${channel.account}: ${channelLine(channel)}`,
    ),
    ...report.processes.flatMap(({ role, host, pid, address, version, notes }) => [
      `process   ${role === 'all' ? 'gateway and worker' : role} on ${host} (${pid}) at ${address}, ${version}`,
      ...notes.map((note) => `stranger  ${role} on ${host} (${pid}): ${note}`),
    ]),
    ...report.plugins.map(({ line }) => `plugin    ${line}`),
    ...report.mcp.map(({ line }) => `mcp       ${line}`),
    ...(turns
      ? [
          `last 24 h ${turns.answered} answered, ${turns.failed} failed, ${turns.stopped} stopped, ${turns.inputTokens + turns.outputTokens} tokens${money(turns.costUsd)}`,
        ]
      : []),
    ...(today
      ? [
          `today     ${today.tokens} tokens${money(today.costUsd)}, ${today.people} people, ${today.groups} groups`,
        ]
      : []),
    ...(outbox
      ? [
          `outbox    ${outbox.pending + outbox.sending} waiting, ${outbox.sent} sent, ${outbox.unknown} uncertain, ${outbox.failed} failed`,
        ]
      : []),
  ];
}

/** What somebody should look at, and how. */
function deadLines({ dead }: GatewayStatus, folder: DataFolder): readonly string[] {
  if (dead === undefined) return [];
  const { refused, uncertain, unanswered } = dead;
  if (refused + uncertain + unanswered === 0) return [];
  const how = commandLine('dead', folder);
  return [
    `dead      ${refused} refused, ${uncertain} uncertain, ${unanswered} unanswered; to settle them: ${how}`,
  ];
}

/** Prices are not always known. */
function money(usd: number): string {
  return usd > 0 ? `, $${usd.toFixed(4)}` : '';
}
