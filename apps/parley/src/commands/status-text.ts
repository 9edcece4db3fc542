import { formatDuration, pluralize } from '@parley/core';
import type { AgentSummary } from '@parley/gateway';
import type { OutputOf } from '@parley/gateway/operations';
import { formatChannelLine } from '../banner.ts';
import { type DataFolder, formatCommandLine } from '../data-folder.ts';
import { stripControlCharacters } from '../terminal/text.ts';
import { formatWebhookAddress } from '../webhook-address.ts';
import { formatMoney } from './usage.ts';

type GatewayStatus = OutputOf<'status/report'>;

/** Formats a report as the lines that `parley status` prints. */
export function listStatusLines(report: GatewayStatus, folder: DataFolder): string[] {
  const { self, health, trouble, turns, today, waiting, outbox, dead } = report;
  const failed = dead && dead.refused + dead.uncertain + dead.unanswered > 0 ? dead : undefined;
  return [
    ...toStatusLine('health', [health.status, ...health.reasons].join('; ')),
    ...toStatusLine(
      'version',
      `${self.version}, running for ${formatDuration(self.uptimeMs)}, ${Math.round(self.memoryBytes / 1e6)} MB of memory`,
    ),
    ...toStatusLine('database', trouble),
    ...(report.notes ?? []).flatMap((note) => toStatusLine('database', note)),
    ...toStatusLine('model', report.model),
    ...toStatusLine('data', report.dataFolder),
    ...listChannelLines(report),
    ...report.processes.flatMap(({ role, host, pid, address, version, notes }) => {
      const what = role === 'all' ? 'gateway and worker' : role;
      const strange = notes.flatMap((note) =>
        toStatusLine('stranger', `${role} on ${host} (${pid}): ${note}`),
      );
      return [
        ...toStatusLine('process', `${what} on ${host} (${pid}) at ${address}, ${version}`),
        ...strange,
      ];
    }),
    ...report.plugins.flatMap((plugin) => toStatusLine('plugin', plugin.line)),
    ...report.mcp.flatMap((server) => toStatusLine('mcp', server.line)),
    ...report.settings.problems.flatMap((problem) =>
      toStatusLine('settings', `not used: ${problem}`),
    ),
    ...toStatusLine('settings', describeAfterRestart(report)),
    ...toStatusLine(
      'last 24 h',
      turns &&
        `${turns.answered} answered, ${turns.failed} failed, ${turns.stopped} stopped, ${turns.inputTokens + turns.outputTokens} tokens, ${formatMoney(turns)}`,
    ),
    ...toStatusLine(
      'today',
      today &&
        `${today.tokens} tokens, ${formatMoney({ ...today, unpriced: turns?.unpriced ?? 0 })}, ${pluralize(today.people, 'person', 'people')}, ${pluralize(today.groups, 'group')}`,
    ),
    ...toStatusLine('queue', waiting && formatQueue(waiting)),
    ...toStatusLine(
      'outbox',
      outbox &&
        `${outbox.pending + outbox.sending} waiting, ${outbox.sent} sent, ${outbox.unknown} uncertain, ${outbox.failed} failed`,
    ),
    ...toStatusLine(
      'dead',
      failed &&
        `${failed.refused} refused, ${failed.uncertain} uncertain, ${failed.unanswered} unanswered; to settle them: ${formatCommandLine('dead', folder)}`,
    ),
  ];
}

/** The state of each account, and the addresses that platforms call. */
function listChannelLines({ channels, publicUrl }: GatewayStatus): readonly string[] {
  const states = channels.flatMap((channel) =>
    toStatusLine('channel', `${channel.channel}/${channel.account}: ${formatChannelLine(channel)}`),
  );
  const addresses = channels.flatMap(({ channel, account, webhook }) =>
    webhook === undefined
      ? []
      : toStatusLine(
          'webhook',
          `${channel}/${account}: ${formatWebhookAddress(webhook, publicUrl)}`,
        ),
  );
  return [...states, ...addresses];
}

function formatQueue({ messages, oldestMs }: NonNullable<GatewayStatus['waiting']>): string {
  if (messages === 0) return 'no messages wait';
  const count = pluralize(messages, 'message');
  // All waiting messages need a person who has taken over the chat or has to approve a call.
  if (oldestMs === 0) return `${count} waiting`;
  return `${count} waiting, the oldest for ${formatDuration(oldestMs)}`;
}

/**
 * Returns the lines for several agents; the other lines of the report describe the default agent.
 */
export function listAgentLines(agents: readonly AgentSummary[]): readonly string[] {
  return agents.flatMap(({ name, title, model, workspace = '-', isDefault, routes }) => {
    if (isDefault) return [];
    const rules =
      routes.length === 0 ? 'no rule routes to this agent' : `answers ${routes.join(', ')}`;
    return toStatusLine(
      'agent',
      stripControlCharacters(`${name} (${title}): ${model}; ${workspace}; ${rules}`),
    );
  });
}

function describeAfterRestart({ settings: { afterRestart } }: GatewayStatus): string | undefined {
  if (afterRestart.length === 0) return undefined;
  return `${afterRestart.join(', ')} ${afterRestart.length === 1 ? 'takes' : 'take'} effect at the next start`;
}

/** Returns an empty list if the value is unknown. */
function toStatusLine(name: string, text: string | undefined): readonly string[] {
  return text === undefined ? [] : [`${name.padEnd(10)}${text}`];
}
