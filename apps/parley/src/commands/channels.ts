import type { OutputOf } from '@parley/gateway/operations';
import { formatChannelLine, printLinkingInstructions } from '../banner.ts';
import { type CliContext, formatJson } from '../cli.ts';
import { formatCommandLine } from '../data-folder.ts';
import { operateAndPrint, operateText, withOperations } from '../operate.ts';
import { formatMinute, formatTable } from '../terminal/text.ts';

type ChannelsReport = OutputOf<'channels/report'>;

/**
 * `parley channels`: lists the accounts, the people waiting to be allowed, and the known groups.
 */
export function listChannels(cli: CliContext): Promise<number> {
  return withOperations(cli, 'channels/report', async ({ perform }) => {
    const report = await perform('channels/report', {});
    cli.print(cli.json ? formatJson(report) : formatReport(report, cli));
    if (!cli.json) await printLinkingInstructions(cli, report.accounts);
    return 0;
  });
}

/** `parley channels pause|resume|reconnect ACCOUNT`: pauses, resumes or reconnects an account. */
export function changeChannel(
  cli: CliContext,
  action: 'pause' | 'resume' | 'reconnect',
  name: string,
): Promise<number> {
  return operateAndPrint(
    cli,
    `channels/${action}`,
    parseAccount(name),
    (account) => `${account.channel}/${account.account}: ${formatChannelLine(account)}`,
  );
}

/** `parley channels test ACCOUNT`: sends a message to the owner's chat. */
export function testChannel(cli: CliContext, name: string): Promise<number> {
  return operateText(cli, 'channels/test', parseAccount(name));
}

/** `parley channels allow ACCOUNT GROUP`: adds the group to the settings. */
export function allowGroup(cli: CliContext, name: string, chatId: string): Promise<number> {
  return operateText(cli, 'channels/allow', { ...parseAccount(name), chatId });
}

/** Parses an account name; `telegram` is short for `telegram/default`. */
function parseAccount(name: string) {
  const [channel = '', account = 'default'] = name.split('/');
  return { channel, account };
}

function formatReport(
  { accounts, waiting, groups }: ChannelsReport,
  { folder }: CliContext,
): string {
  const sections = [
    formatTable(accounts.map(toAccountRow)),
    ...(waiting.length === 0
      ? []
      : [
          `Waiting to be allowed (${formatCommandLine('pair CODE', folder)}):`,
          formatTable(
            waiting.map(({ code, channel, account, senderId, senderName, expiresAt }) => [
              `  ${code}`,
              senderName,
              `${channel}:${senderId}`,
              `on ${channel}/${account}, until ${formatMinute(expiresAt)} UTC`,
            ]),
          ),
        ]),
    ...(groups.length === 0
      ? []
      : [
          `Groups that are not allowed (${formatCommandLine('channels allow ACCOUNT GROUP', folder)}):`,
          formatTable(
            groups.map(({ channel, account, chatId, title, seenAt }) => [
              `  ${chatId}`,
              title ?? 'no title',
              `on ${channel}/${account}, last seen ${formatMinute(seenAt)} UTC`,
            ]),
          ),
        ]),
  ];
  return sections.join('\n');
}

function toAccountRow(shown: ChannelsReport['accounts'][number]): string[] {
  const { access } = shown;
  const rules = access === undefined ? '' : `direct: ${access.direct}, groups: ${access.groups}`;
  return [`${shown.channel}/${shown.account}`, rules, formatChannelLine(shown)];
}
