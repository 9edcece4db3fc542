import { type Command, Option } from 'commander';
import {
  addCommand,
  addDefault,
  addExamples,
  addJsonOption,
  type CommandRunners,
  createModuleRunner,
  createNumberParser,
  parseIdNumber,
} from './cli.ts';

const NOTES = `While a person leads a conversation, its messages wait and the agent stays silent. The agent does not answer messages
that the person has answered; it learns about them once the conversation is handed back. See docs/conversations.md.

Names, pins, archive and unread marks belong to your inbox; the page shows them on all your devices.`;

const EXAMPLES: readonly (readonly [line: string, effect: string])[] = [
  ['parley conversations', 'the newest conversations, with their ids'],
  ['parley conversations show telegram:default:501', 'while Parley runs'],
  ['parley conversations take-over telegram:default:501 --minutes 30', ''],
  ['parley conversations reply telegram:default:501 "I am looking into it."', ''],
  ['parley conversations hand-back telegram:default:501', 'the agent answers again'],
  ['parley conversations rename telegram:default:501 "Ann, harbor"', ''],
  ['parley conversations pin telegram:default:501', ''],
  ['parley conversations archive telegram:default:501 --off', 'return it to your inbox'],
  ['parley conversations mark-read telegram:default:501', 'mark it as read on all your devices'],
  ['parley conversations delete telegram:default:501', 'show what would be deleted'],
];

interface ListingPage {
  readonly limit: number;
  readonly before?: number;
}

export function addConversationCommands(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/conversations.ts'));
  const what =
    'list the conversations on all channels, or show, take over, write into or hand back one of them';
  const group = addJsonOption(addCommand(program, 'conversations', what)).alias('conversation');
  addPaging(addDefault(group, 'list', 'list conversations, newest first')).action(
    ({ limit, before }: ListingPage) => work((m, cli) => m.listConversations(cli, limit, before)),
  );
  addCommand(
    group,
    'show',
    'show one conversation: its state, model, usage and files',
    (id: string) => work((m, cli) => m.showConversation(cli, id)),
  ).argument('<id>', 'the conversation’s id from the list');
  addCommand(
    group,
    'take-over',
    'lead a conversation instead of the agent, which stays silent until you hand it back',
    (id: string, { minutes }: { readonly minutes: number }) =>
      work((m, cli) => m.takeOverConversation(cli, id, minutes)),
  )
    .argument('<id>', 'the conversation’s id from the list')
    .option(
      '--minutes <number>',
      'hand it back after this many minutes',
      createNumberParser(1, 1_440),
      60,
    );
  addCommand(group, 'hand-back', 'let the agent answer again', (id: string) =>
    work((m, cli) => m.handBackConversation(cli, id)),
  ).argument('<id>', 'the conversation’s id from the list');
  addCommand(
    group,
    'reply',
    'write into a conversation',
    (id: string, text: string, { as }: { readonly as: 'agent' | 'self' }) =>
      work((m, cli) => m.replyToConversation(cli, id, text, as)),
  )
    .argument('<id>', 'the conversation’s id from the list')
    .argument('<text>', 'in Markdown')
    .addOption(
      new Option('--as <whom>', 'send under your name or as the agent')
        .choices(['self', 'agent'])
        .default('self'),
    );
  addInboxCommands(group, work);
  const record = 'list takeovers, messages written by people, and hand-backs, newest first';
  const before = 'only entries before this time, in ms';
  addPaging(
    addCommand(group, 'takeovers', record, ({ limit, before }: ListingPage) =>
      work((m, cli) => m.listTakeovers(cli, limit, before)),
    ),
    before,
  );
  addExamples(group, EXAMPLES, NOTES);
}

type ConversationWork = ReturnType<
  typeof createModuleRunner<typeof import('./commands/conversations.ts')>
>;

function addInboxCommands(group: Command, work: ConversationWork): void {
  const ID = 'the conversation’s id from the list';
  addCommand(
    group,
    'rename',
    'rename a conversation in your inbox',
    (id: string, title: string | undefined) =>
      work((m, cli) => m.renameConversation(cli, id, title ?? '')),
  )
    .argument('<id>', ID)
    .argument('[name]', 'the new name; without it, the original title is used');
  addCommand(
    group,
    'pin',
    'pin a conversation to the top of your inbox',
    (id: string, { off }: { readonly off?: boolean }) =>
      work((m, cli) => m.pinConversation(cli, id, off !== true)),
  )
    .argument('<id>', ID)
    .option('--off', 'unpin it');
  addCommand(
    group,
    'archive',
    'archive a conversation; a pending approval returns it to the inbox',
    (id: string, { off }: { readonly off?: boolean }) =>
      work((m, cli) => m.archiveConversation(cli, id, off !== true)),
  )
    .argument('<id>', ID)
    .option('--off', 'move it back');
  addCommand(
    group,
    'mark-read',
    'mark a conversation as read',
    (id: string, { off }: { readonly off?: boolean }) =>
      work((m, cli) => m.markConversationRead(cli, id, off !== true)),
  )
    .argument('<id>', ID)
    .option('--off', 'mark the newest message as unread');
  addCommand(
    group,
    'delete',
    'delete a conversation and everything said in it',
    (id: string, { yes }: { readonly yes?: boolean }) =>
      work((m, cli) => m.deleteConversation(cli, id, yes === true)),
  )
    .argument('<id>', ID)
    .option('--yes', 'delete it; without this option, only show what would be deleted');
}

function addPaging(
  command: Command,
  before = 'only conversations older than this number',
): Command {
  return command
    .option('-n, --limit <count>', 'list this many', createNumberParser(1, 50), 20)
    .option('--before <number>', before, parseIdNumber);
}
