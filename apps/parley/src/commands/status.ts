import { readFileSync } from 'node:fs';
import type { AccountStatus } from '@parley/gateway';
import { channelLine } from '../banner.ts';
import type { DataFolder } from '../data-folder.ts';
import { findInstance } from '../instance-file.ts';
import type { StatusReport } from '../status-report.ts';

/** `parley status`: how the gateway on this data folder is doing; 0 when all its channels work. */
export async function status(folder: DataFolder, print: (text: string) => void): Promise<number> {
  const instance = findInstance(folder);
  if (!instance) {
    print(`No Parley runs on ${folder.path}. Start it with "parley start".`);
    return 3;
  }
  const token = readFileSync(folder.tokenFile, 'utf8').trim();
  const response = await fetch(`${instance.address}/api/status`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(5_000),
  });
  if (!response.ok) {
    print(
      `Parley (process ${instance.pid}) answered ${response.status} to a status request at ${instance.address}.`,
    );
    return 1;
  }
  // Our own process on loopback, guarded by the token, answers in our own shape.
  const report = (await response.json()) as StatusReport & { channels: AccountStatus[] };
  print(statusText(report, instance.address));
  return report.channels.every(({ state }) => state.kind === 'connected') ? 0 : 1;
}

function statusText(report: StatusReport & { channels: AccountStatus[] }, address: string): string {
  const { turns, outbox } = report;
  const cost = turns.costUsd > 0 ? `, $${turns.costUsd.toFixed(4)}` : '';
  return [
    `${report.agent} at ${address}`,
    `model     ${report.model}`,
    `data      ${report.dataFolder}`,
    ...report.channels.map(
      (channel) => `channel   ${channel.channel}/${channel.account}: ${channelLine(channel)}`,
    ),
    `last 24 h ${turns.answered} answered, ${turns.failed} failed, ${turns.stopped} stopped, ${turns.inputTokens + turns.outputTokens} tokens${cost}`,
    `outbox    ${outbox.pending + outbox.sending} waiting, ${outbox.sent} sent, ${outbox.unknown} uncertain, ${outbox.failed} failed`,
  ].join('\n');
}
