import { ROLES, type Role } from '@parley/core';
import { type Command, Option } from 'commander';
import {
  addCommand,
  addDefault,
  addExamples,
  addJsonOption,
  type CommandRunners,
  createModuleRunner,
  createNumberParser,
} from './cli.ts';

export function addChannelCommands(program: Command, { run }: CommandRunners): void {
  const work = createModuleRunner(run, () => import('./commands/channels.ts'));
  const what = 'list, pause, reconnect or test accounts, and allow groups';
  const channels = addJsonOption(addCommand(program, 'channels', what));
  const list = 'list the accounts with their state, people waiting for access, and known groups';
  addDefault(channels, 'list', list).action(() => work((m, cli) => m.listChannels(cli)));
  const change = (action: 'pause' | 'resume' | 'reconnect', description: string) =>
    addCommand(channels, `${action} <account>`, description, (account: string) =>
      work((m, cli) => m.changeChannel(cli, action, account)),
    );
  change(
    'pause',
    'disconnect an account; the platform keeps its messages until the account is resumed',
  );
  change('resume', 'connect a paused account again');
  change('reconnect', 'close the connection of an account and open it again');
  const test = 'send a test message to an owner’s chat on that account';
  addCommand(channels, 'test <account>', test, (account: string) =>
    work((m, cli) => m.testChannel(cli, account)),
  );
  const allow = 'allow a group that the bot has seen, by adding it to the settings file';
  addCommand(channels, 'allow <account> <group>', allow, (account: string, group: string) =>
    work((m, cli) => m.allowGroup(cli, account, group)),
  );
  addExamples(
    channels,
    [
      ['parley channels', 'all accounts, people waiting for access, and groups'],
      ['parley channels pause telegram', 'until you run "parley channels resume telegram"'],
      ['parley channels reconnect telegram/work', 'reconnect the account "work"'],
      ['parley channels test discord', 'send a test message'],
      ['parley channels allow telegram -1001234567890', 'answer in this group'],
    ],
    'An account is CHANNEL or CHANNEL/NAME, such as telegram or telegram/work. A paused account stays paused after a restart.',
  );
}

export function addAccessCommands(program: Command, { run, bare }: CommandRunners): void {
  const load = () => import('./commands/access.ts');
  const [work, secret] = [createModuleRunner(run, load), createModuleRunner(bare, load)];
  const pair = 'allow a stranger by the code they received, or list pending requests';
  const operate = createModuleRunner(run, () => import('./operate.ts'));
  const pairing = addCommand(
    program,
    'pair [code]',
    pair,
    (code: string = '', flags: { readonly refuse?: true }) =>
      operate((m, cli) =>
        m.operateText(cli, flags.refuse ? 'access/refuse' : 'access/pair', { code }),
      ),
  );
  addJsonOption(pairing).option('--refuse', 'refuse the request instead');
  addExamples(pairing, [
    ['parley pair', 'pending requests'],
    ['parley pair ABCD2345', 'allow the person with this code'],
    ['parley pair ABCD2345 --refuse', 'remove the request from the list'],
  ]);
  const approvals = 'list approval requests and their outcomes';
  const asking = addCommand(
    program,
    'approvals',
    approvals,
    ({ limit }: { readonly limit: number }) => work((m, cli) => m.listApprovals(cli, limit)),
  );
  addJsonOption(asking).option(
    '-n, --limit <count>',
    'list this many of the newest requests',
    createNumberParser(1, 1_000),
    20,
  );

  const token = addJsonOption(
    addCommand(program, 'token', 'show or replace the access token for the page and the API'),
  );
  const show = 'print the link that signs a browser in';
  addDefault(token, 'show', show).action(() => secret((m, cli) => m.showToken(cli)));
  const rotate = 'make a new token and end all sessions, without a restart';
  addCommand(token, 'rotate', rotate, () => secret((m, cli) => m.rotateToken(cli)));

  const sessions = addJsonOption(
    addCommand(program, 'sessions', 'list, start or end browser sign-ins to the page'),
  );
  const list = 'list signed-in browsers, starting with the most recently used';
  addDefault(sessions, 'list', list).action(() => secret((m, cli) => m.listSessions(cli)));
  const another = 'print a link that signs one browser in, without the token';
  addCommand(sessions, 'new', another, () => secret((m, cli) => m.createSession(cli)));
  const end = addCommand(sessions, 'end [id]', 'sign a browser out immediately');
  end
    .option('--all', 'sign all of them out')
    .action((id: string | undefined, { all }: { readonly all?: boolean }) => {
      if (!all && id === undefined)
        end.error('error: name a session from "parley sessions", or use --all');
      return secret((m, cli) => m.endSessions(cli, all ? 'all' : (id ?? '')));
    });
  addExamples(sessions, [
    ['parley sessions', 'who is signed in'],
    ['parley sessions new', 'a link that signs one browser in'],
    ['parley sessions end 3f9a1c0be214', 'sign this browser out'],
  ]);
}

const PEOPLE_NOTES = `An owner can do everything, as with the gateway token. An operator manages channels, strangers and the queue, and sees
usage and the audit, but not message text or people’s names. A viewer sees only state, metrics and usage. See docs/people.md.`;

export function addPeopleCommands(program: Command, { bare }: CommandRunners): void {
  const secret = createModuleRunner(bare, () => import('./commands/access.ts'));
  const what = 'list, add or revoke other people’s sign-ins, each with a role';
  const people = addJsonOption(addCommand(program, 'people', what));
  const list = 'list everyone who has a sign-in';
  addDefault(people, 'list', list).action(() => secret((m, cli) => m.listPeople(cli)));
  const another = 'make a sign-in token for a person; it is printed only once';
  addCommand(people, 'add <name>', another, (name: string, { role }: { readonly role: Role }) =>
    secret((m, cli) => m.addPerson(cli, name, role)),
  ).addOption(
    new Option('--role <role>', 'what the person may do').choices(ROLES).makeOptionMandatory(),
  );
  addCommand(
    people,
    'revoke <name>',
    'revoke the sign-in and end its sessions immediately',
    (name: string) => secret((m, cli) => m.revokePerson(cli, name)),
  );
  addExamples(
    people,
    [
      ['parley people', 'everyone with a sign-in'],
      ['parley people add ann --role operator', 'print a token for Ann'],
      ['parley people revoke ann', 'the token stops working immediately'],
    ],
    PEOPLE_NOTES,
  );
}
