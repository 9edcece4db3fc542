import { findNearestWord } from '@parley/settings';
import { type Command, Option } from 'commander';
import {
  addAgentOption,
  addCommand,
  addDefault,
  addExamples,
  addJsonOption,
  type CommandRunners,
  createModuleRunner,
  createNumberParser,
} from './cli.ts';
import type { SimulatedPlatform, SimulateFlags } from './commands/simulate/simulate.ts';
import { noteFormer } from './former-options.ts';

const CHAT_HELP = `
Enter sends, Ctrl-C stops a running answer, Ctrl-D ends the chat; /help in the chat shows the commands.
Input from a pipe is one message; only its answer is printed.`;

const ROLES = [
  ['start', 'all', 'start everything in this terminal; Ctrl-C stops it and loses nothing'],
  ['gateway', 'gateway', 'start only the channels and the web page; needs PostgreSQL and Redis'],
  ['worker', 'worker', 'start only a process that answers; run any number, on any machine'],
] as const;

/**
 * Adds the commands that start Parley, completely or by role, and the command that talks to the
 * agent in the terminal.
 */
export function describeStart(program: Command, { bare, starting }: CommandRunners): void {
  const start = createModuleRunner(starting, () => import('./commands/start.ts'));
  const port = 'use this port instead of http.port of the settings; 0 takes any free one';
  for (const [name, role, description] of ROLES) {
    addCommand(program, name, description, ({ port }: { readonly port?: number }) =>
      start((m, { folder, env }) => m.runStart(folder, env, () => {}, { role, port })),
    ).option('--port <number>', port, createNumberParser(0, 65_535));
  }
  const setup = createModuleRunner(bare, () => import('./commands/setup/setup.ts'));
  const asks = 'connect a model and a channel, and become the owner: asks, and tries each answer';
  addCommand(program, 'setup', asks, () => setup((m, cli) => m.runSetup(cli)));
  const chat = createModuleRunner(bare, () => import('./commands/chat.ts'));
  const talk = 'talk to the agent here; starts a gateway if none is running';
  const talking = addCommand(program, 'chat', talk, () => chat((m, cli) => m.runChat(cli)));
  addAgentOption(talking).addHelpText('after', CHAT_HELP);
}

const SERVICE_HELP = `
Run as root, it installs a system service with the user parley and its data in /var/lib/parley; run as another user, a
service of that user on the data folder of all commands. docs/service.md explains what it may do and how it gets its keys.`;

/** Adds the commands that manage the background service. */
export function describeService(program: Command, { starting }: CommandRunners): void {
  const work = createModuleRunner(starting, () => import('./commands/service/service.ts'));
  const what = 'run in the background, starting with the machine (systemd, launchd)';
  const service = addCommand(program, 'service', what).addHelpText('after', SERVICE_HELP);
  const status = 'show whether it runs (exit 0 it answers, 1 it does not, 3 not installed)';
  addJsonOption(addDefault(service, 'status', status)).action(() =>
    work((m, cli) => m.showServiceStatus(cli)),
  );
  const install = 'write the unit, start it, and wait until it answers; repeat after changes';
  addCommand(service, 'install', install, (flags: { readonly print?: boolean }) =>
    work((m, cli) => m.installService(cli, flags)),
  ).option('--print', 'print the unit and change nothing');
  const remove = 'stop it and remove the unit; the data is kept';
  addCommand(service, 'uninstall', remove, () => work((m, cli) => m.uninstallService(cli)));
}

const SIMULATE_NOTES = `Without a scene, a page shows a copy of the platform with several people, a group, buttons, files and faults, and a Parley
with your settings, model and plugins, and a copy of your workspace. Your own conversations are not touched, and the real
platform is never contacted. docs/simulate.md says what such a copy enforces, and how scenes become tests.

With a scene there is no page: it is played in this terminal, the conversation is printed, and the exit code is 0 if
everything happened as the scene says, 1 if not.`;

/** Adds the command that simulates a platform. */
export function describeSimulate(program: Command, { bare }: CommandRunners): void {
  const work = createModuleRunner(bare, () => import('./commands/simulate/simulate.ts'));
  const what =
    'simulate a platform for your Parley, on a page or from a scene, without an account or token';
  const play = new Option('--play <file>', 'the scene').hideHelp();
  const command: Command = addCommand(
    program,
    'simulate [platform] [scene]',
    what,
    (first: string | undefined, second: string | undefined, flags: SimulateFlags) => {
      const words = [first, second, flags.play].filter((word) => word !== undefined);
      const asked = readSimulateWords(words);
      if (typeof asked === 'string') command.error(`error: ${asked}`);
      if (asked.scene !== undefined && flags.record !== undefined)
        command.error(
          'error: --record cannot be used with a scene, which is played without a page',
        );
      return work((m, cli) => m.runSimulate(cli, asked, flags));
    },
  );
  command
    .option(
      '--port <number>',
      'serve the page on this port; 0 takes any free one',
      createNumberParser(0, 65_535),
      0,
    )
    .option('--record <file>', 'write what happens on the page into a scene file')
    .addOption(play)
    .option('--offline', 'let the built-in model answer, whatever the settings say')
    .option('--workspace', 'let it write into your workspace, instead of a copy');
  noteFormer(command, play, 'is not needed');
  addExamples(
    command,
    [
      ['parley simulate', 'Telegram on a page'],
      ['parley simulate discord --record scene.jsonl', 'Discord, recorded as a scene'],
      ['parley simulate discord scene.jsonl', 'play that scene again and compare'],
      ['parley simulate scene.jsonl --offline', 'on Telegram, without asking any model'],
    ],
    SIMULATE_NOTES,
  );
}

const PLATFORMS: readonly SimulatedPlatform[] = ['telegram', 'discord', 'slack', 'whatsapp'];

/**
 * Parses a platform and a scene file, given in any order. Returns an error text if a word is
 * neither.
 */
function readSimulateWords(
  words: readonly string[],
): { readonly platform: SimulatedPlatform; readonly scene?: string } | string {
  let platform: SimulatedPlatform | undefined;
  let scene: string | undefined;
  for (const word of words) {
    const named = PLATFORMS.find((one) => one === word);
    if (named === undefined && !/[./\\]/.test(word)) {
      const meant = findNearestWord(word, PLATFORMS);
      const hint =
        meant === undefined
          ? `(Platforms are ${PLATFORMS.join(', ')}; the name of a scene has a dot or a slash in it.)`
          : `(Did you mean ${meant}?)`;
      return `'${word}' is neither a platform nor a scene\n${hint}`;
    }
    if (named === undefined ? scene !== undefined : platform !== undefined)
      return `give one platform and one scene, not '${words.join(' ')}'`;
    if (named === undefined) scene = word;
    else platform = named;
  }
  return { platform: platform ?? 'telegram', ...(scene !== undefined && { scene }) };
}
