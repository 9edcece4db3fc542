import { ROLES, type Role } from '@parley/core';
import { type Command, Option } from 'commander';
import { add, addDefault, numberFrom, type Runs, using, withJson } from './cli.ts';

/** The commands about people who may write to the bot and open the page. */
export function describeAccess(program: Command, { run, bare }: Runs): void {
  const load = () => import('./commands/access.ts');
  const [work, secret] = [using(run, load), using(bare, load)];
  const pair = 'allow a stranger by the code they were given; without a code: pending requests';
  const operate = using(run, () => import('./operate.ts'));
  const pairing = add(
    program,
    'pair [code]',
    pair,
    (code: string = '', flags: { readonly refuse?: true }) =>
      operate((m, cli) =>
        m.operateText(cli, flags.refuse ? 'access/refuse' : 'access/pair', { code }),
      ),
  );
  withJson(pairing).option('--refuse', 'take the request off the list instead');
  const approvals = 'what I asked people before I did it, who decided, and what came of it';
  const asking = add(program, 'approvals', approvals, ({ limit }: { readonly limit: number }) =>
    work((m, cli) => m.approvals(cli, limit)),
  );
  withJson(asking).option('--limit <count>', 'how many of the newest', numberFrom(1, 1_000), 20);

  const token = withJson(add(program, 'token', 'the secret of the page and the API'));
  const show = addDefault(token, 'show');
  show
    .description('print the address that signs a browser in')
    .action(() => secret((m, cli) => m.showToken(cli)));
  const rotate = 'make another token and end all sessions; nothing has to be started again';
  add(token, 'rotate', rotate, () => secret((m, cli) => m.rotateToken(cli)));

  const sessions = withJson(
    add(program, 'sessions', 'the browsers that are signed in to the page: list, new, end'),
  );
  const list = addDefault(sessions, 'list');
  list.description('the last used first').action(() => secret((m, cli) => m.listSessions(cli)));
  const another = 'print an address that signs one browser in, without the token';
  add(sessions, 'new', another, () => secret((m, cli) => m.newSession(cli)));
  const end = add(sessions, 'end [id]', 'sign a browser out, at once');
  end
    .option('--all', 'all of them')
    .action((id: string | undefined, { all }: { readonly all?: boolean }) => {
      if (!all && id === undefined)
        end.error('Name a session as "parley sessions" lists it, or say --all.');
      return secret((m, cli) => m.endSessions(cli, all ? 'all' : (id ?? '')));
    });
}

const PEOPLE_HELP = `
owner: everything, as with the token of the data folder. operator: channels, strangers, queue, usage, audit, and no
text or name of anyone. viewer: state, metrics and usage alone. docs/people.md explains it.`;

/** Sign-ins of their own for other people. */
export function describePeople(program: Command, { bare }: Runs): void {
  const secret = using(bare, () => import('./commands/access.ts'));
  const what = 'sign-ins of their own for other people, each with a role: list, add, revoke';
  const people = withJson(add(program, 'people', what)).addHelpText('after', PEOPLE_HELP);
  const list = addDefault(people, 'list');
  list.description('all, by name').action(() => secret((m, cli) => m.listPeople(cli)));
  const another = 'make a token for somebody; it is printed once';
  add(people, 'add <name>', another, (name: string, { role }: { readonly role: Role }) =>
    secret((m, cli) => m.addPerson(cli, name, role)),
  ).addOption(new Option('--role <role>', 'what they may do').choices(ROLES).makeOptionMandatory());
  add(people, 'revoke <name>', 'take it back and end its sessions, at once', (name: string) =>
    secret((m, cli) => m.revokePerson(cli, name)),
  );
}
