import type { OutputOf } from '@parley/gateway/operations';
import { channelLine, printLinks } from '../banner.ts';
import { type Cli, jsonText } from '../cli.ts';
import { commandLine } from '../data-folder.ts';
import { operate, operateText, withOperations } from '../operate.ts';
import { minuteText, tableText } from '../terminal/text.ts';

type ChannelsReport = OutputOf<'channels/report'>;

/**
 * `parley channels`: lists the accounts, the people waiting for permission, and the groups seen.
 */
export function listChannels(cli: Cli): Promise<number> {
  return withOperations(cli, 'channels/report', async ({ perform }) => {
    const report = await perform('channels/report', {});
    cli.print(cli.json ? jsonText(report) : reportText(report, cli));
    if (!cli.json) await printLinks(cli, report.accounts);
    return 0;
  });
}

/** `parley channels pause|resume|reconnect ACCOUNT`. */
export function changeChannel(
  cli: Cli,
  action: 'pause' | 'resume' | 'reconnect',
  name: string,
): Promise<number> {
  return operate(
    cli,
    `channels/${action}`,
    accountOf(name),
    (account) => `${account.channel}/${account.account}: ${channelLine(account)}`,
  );
}

/** `parley channels test ACCOUNT`: sends a message to the owner's chat. */
export function testChannel(cli: Cli, name: string): Promise<number> {
  return operateText(cli, 'channels/test', accountOf(name));
}

/** `parley channels allow ACCOUNT GROUP`: adds the group to the settings. */
export function allowGroup(cli: Cli, name: string, chatId: string): Promise<number> {
  return operateText(cli, 'channels/allow', { ...accountOf(name), chatId });
}

/** `telegram` is short for `telegram/default`. */
function accountOf(name: string) {
  const [channel = '', account = 'default'] = name.split('/');
  return { channel, account };
}

function reportText({ accounts, waiting, groups }: ChannelsReport, { folder }: Cli): string {
  const sections = [
    tableText(accounts.map(accountRow)),
    ...(waiting.length === 0
      ? []
      : [
          `Waiting to be allowed (${commandLine('pair CODE', folder)}):`,
          tableText(
            waiting.map(({ code, channel, account, senderId, senderName, expiresAt }) => [
              `  ${code}`,
              senderName,
              `${channel}:${senderId}`,
              `on ${channel}/${account}, until ${minuteText(expiresAt)} UTC`,
            ]),
          ),
        ]),
    ...(groups.length === 0
      ? []
      : [
          `Groups that are not allowed (${commandLine('channels allow ACCOUNT GROUP', folder)}):`,
          tableText(
            groups.map(({ channel, account, chatId, title, seenAt }) => [
              `  ${chatId}`,
              title ?? 'no title',
              `on ${channel}/${account}, last seen ${minuteText(seenAt)} UTC`,
            ]),
          ),
        ]),
  ];
  return sections.join('\n');
}

function accountRow(shown: ChannelsReport['accounts'][number]): string[] {
  const { access } = shown;
  const rules = access === undefined ? '' : `direct: ${access.direct}, groups: ${access.groups}`;
  return [`${shown.channel}/${shown.account}`, rules, channelLine(shown)];
}
