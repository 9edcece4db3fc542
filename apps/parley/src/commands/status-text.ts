import { countOf, shortDuration } from '@parley/core';
import type { ShownAgent } from '@parley/gateway';
import type { OutputOf } from '@parley/gateway/operations';
import { channelLine } from '../banner.ts';
import { commandLine, type DataFolder } from '../data-folder.ts';
import { visible } from '../terminal/text.ts';
import { webhookAddress } from '../webhook-address.ts';
import { moneyText } from './usage.ts';

type GatewayStatus = OutputOf<'status/report'>;

/** The lines that `parley status` prints for a report. */
export function statusLines(report: GatewayStatus, folder: DataFolder): string[] {
  const { self, health, trouble, turns, today, waiting, outbox, dead } = report;
  const failed = dead && dead.refused + dead.uncertain + dead.unanswered > 0 ? dead : undefined;
  return [
    ...statusLine('health', [health.status, ...health.reasons].join('; ')),
    ...statusLine(
      'version',
      `${self.version}, running for ${shortDuration(self.uptimeMs)}, ${Math.round(self.memoryBytes / 1e6)} MB of memory`,
    ),
    ...statusLine('database', trouble),
    ...(report.notes ?? []).flatMap((note) => statusLine('database', note)),
    ...statusLine('model', report.model),
    ...statusLine('data', report.dataFolder),
    ...report.channels.flatMap((channel) =>
      statusLine('channel', `${channel.channel}/${channel.account}: ${channelLine(channel)}`),
    ),
    ...report.channels.flatMap(({ channel, account, webhook }) =>
      webhook === undefined
        ? []
        : statusLine(
            'webhook',
            `${channel}/${account}: ${webhookAddress(webhook, report.publicUrl)}`,
          ),
    ),
    ...report.processes.flatMap(({ role, host, pid, address, version, notes }) => {
      const what = role === 'all' ? 'gateway and worker' : role;
      const strange = notes.flatMap((note) =>
        statusLine('stranger', `${role} on ${host} (${pid}): ${note}`),
      );
      return [
        ...statusLine('process', `${what} on ${host} (${pid}) at ${address}, ${version}`),
        ...strange,
      ];
    }),
    ...report.plugins.flatMap((plugin) => statusLine('plugin', plugin.line)),
    ...report.mcp.flatMap((server) => statusLine('mcp', server.line)),
    ...report.settings.problems.flatMap((problem) =>
      statusLine('settings', `not used: ${problem}`),
    ),
    ...statusLine('settings', afterRestart(report)),
    ...statusLine(
      'last 24 h',
      turns &&
        `${turns.answered} answered, ${turns.failed} failed, ${turns.stopped} stopped, ${turns.inputTokens + turns.outputTokens} tokens, ${moneyText(turns)}`,
    ),
    ...statusLine(
      'today',
      today &&
        `${today.tokens} tokens, ${moneyText({ ...today, unpriced: turns?.unpriced ?? 0 })}, ${countOf(today.people, 'person', 'people')}, ${countOf(today.groups, 'group')}`,
    ),
    ...statusLine('queue', waiting && queueText(waiting)),
    ...statusLine(
      'outbox',
      outbox &&
        `${outbox.pending + outbox.sending} waiting, ${outbox.sent} sent, ${outbox.unknown} uncertain, ${outbox.failed} failed`,
    ),
    ...statusLine(
      'dead',
      failed &&
        `${failed.refused} refused, ${failed.uncertain} uncertain, ${failed.unanswered} unanswered; to settle them: ${commandLine('dead', folder)}`,
    ),
  ];
}

function queueText({ messages, oldestMs }: NonNullable<GatewayStatus['waiting']>): string {
  if (messages === 0) return 'no messages wait';
  const count = countOf(messages, 'message');
  // All waiting messages need a person, who has taken over the chat or has to decide.
  if (oldestMs === 0) return `${count} waiting`;
  return `${count} waiting, the oldest for ${shortDuration(oldestMs)}`;
}

/**
 * The lines shown if there are several agents; the other lines of the report describe the default
 * agent.
 */
export function agentLines(agents: readonly ShownAgent[]): readonly string[] {
  return agents.flatMap(({ name, title, model, workspace = '-', isDefault, routes }) => {
    if (isDefault) return [];
    const rules = routes.length === 0 ? 'no rule leads to it' : `answers ${routes.join(', ')}`;
    return statusLine('agent', visible(`${name} (${title}): ${model}; ${workspace}; ${rules}`));
  });
}

function afterRestart({ settings: { afterRestart } }: GatewayStatus): string | undefined {
  if (afterRestart.length === 0) return undefined;
  return `${afterRestart.join(', ')} ${afterRestart.length === 1 ? 'counts' : 'count'} from the next start`;
}

/** Returns no line if the value is unknown. */
function statusLine(name: string, text: string | undefined): readonly string[] {
  return text === undefined ? [] : [`${name.padEnd(10)}${text}`];
}
