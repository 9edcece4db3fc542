import { askRunning } from '../ask-gateway.ts';
import { channelLine } from '../banner.ts';
import { commandLine } from '../command-line.ts';
import type { DataFolder } from '../data-folder.ts';
import { findInstance, type Instance } from '../instance-file.ts';
import { drawCode } from '../pairing-screen.ts';
import { GatewayStatus } from '../status-report.ts';

/** `parley status`: how the gateway on this data folder is doing; 0 when all its channels work. */
export async function status(folder: DataFolder, print: (text: string) => void): Promise<number> {
  const instance = findInstance(folder);
  if (!instance) {
    print(`No Parley runs on ${folder.path}. Start it with "${commandLine('start', folder)}".`);
    return 3;
  }
  const report = await askGateway(folder, instance);
  print(statusText(report, instance.address));
  for (const { channel, state } of report.channels) {
    if (state.kind !== 'pairing' || !process.stdout.isTTY) continue;
    print(`${await drawCode(state.code)}\nScan this with the phone to link ${channel}.`);
  }
  return report.channels.every(({ state }) => state.kind === 'connected') ? 0 : 1;
}

/** How the running gateway does. Throws CliError when it does not tell. */
export function askGateway(folder: DataFolder, instance: Instance): Promise<GatewayStatus> {
  return askRunning(folder, instance, { path: '/api/status', answer: GatewayStatus });
}

function statusText(report: GatewayStatus, address: string): string {
  const { turns, today, outbox } = report;
  return [
    `${report.agent} at ${address}`,
    `model     ${report.model}`,
    `data      ${report.dataFolder}`,
    ...report.channels.map(
      (channel) => `channel   ${channel.channel}/${channel.account}: ${channelLine(channel)}`,
    ),
    ...report.plugins.map(({ line }) => `plugin    ${line}`),
    ...report.mcp.map(({ line }) => `mcp       ${line}`),
    `last 24 h ${turns.answered} answered, ${turns.failed} failed, ${turns.stopped} stopped, ${turns.inputTokens + turns.outputTokens} tokens${money(turns.costUsd)}`,
    `today     ${today.tokens} tokens${money(today.costUsd)}, ${today.people} people, ${today.groups} groups`,
    `outbox    ${outbox.pending + outbox.sending} waiting, ${outbox.sent} sent, ${outbox.unknown} uncertain, ${outbox.failed} failed`,
  ].join('\n');
}

/** Prices are not always known. */
function money(usd: number): string {
  return usd > 0 ? `, $${usd.toFixed(4)}` : '';
}
