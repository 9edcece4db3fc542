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
import { printFormerOptionNotice } from './former-options.ts';

const CHAT_HELP = `
Enter sends, Ctrl-C stops a running answer, and Ctrl-D ends the chat; /help in the chat shows the commands.
Input from a pipe is sent as one message, and only its answer is printed.`;

const ROLES = [
  ['start', 'all', 'start everything in this terminal; Ctrl-C stops it, and nothing is lost'],
  ['gateway', 'gateway', 'start only the channels and the web page; needs PostgreSQL and Redis'],
  [
    'worker',
    'worker',
    'start only a worker, which answers messages; run any number of workers, on any machine',
  ],
] as const;

/**
 * Adds the commands that start Parley as a whole or in a single role, and the command that talks to
 * the agent in the terminal.
 */
export function addStartCommands(program: Command, { bare, starting }: CommandRunners): void {
  const start = createModuleRunner(starting, () => import('./commands/start.ts'));
  const port = 'use this port instead of http.port in the settings; 0 uses any free port';
  for (const [name, role, description] of ROLES) {
    addCommand(program, name, description, ({ port }: { readonly port?: number }) =>
      start((m, { folder, env }) => m.runStart(folder, env, () => {}, { role, port })),
    ).option('--port <number>', port, createNumberParser(0, 65_535));
  }
  const setup = createModuleRunner(bare, () => import('./commands/setup/setup.ts'));
  const asks = 'connect a model and a channel and become the owner; each answer is tested';
  addCommand(program, 'setup', asks, () => setup((m, cli) => m.runSetup(cli)));
  const chat = createModuleRunner(bare, () => import('./commands/chat.ts'));
  const talk = 'talk to the agent here; starts a gateway if none is running';
  const talking = addCommand(program, 'chat', talk, () => chat((m, cli) => m.runChat(cli)));
  addAgentOption(talking).addHelpText('after', CHAT_HELP);
}

const SERVICE_HELP = `
As root, the command installs a system service that runs as the user parley and keeps its data in /var/lib/parley. As
another user, it installs a service for that user, with the data folder that the other commands use. docs/service.md
explains what the service may do and how it gets its keys.`;

export function addServiceCommands(program: Command, { starting }: CommandRunners): void {
  const work = createModuleRunner(starting, () => import('./commands/service/service.ts'));
  const what = 'run in the background and start when the machine starts (systemd, launchd)';
  const service = addCommand(program, 'service', what).addHelpText('after', SERVICE_HELP);
  const status =
    'show whether the service is running (exit 0 if it answers, 1 if it does not, 3 if it is not installed)';
  addJsonOption(addDefault(service, 'status', status)).action(() =>
    work((m, cli) => m.showServiceStatus(cli)),
  );
  const install =
    'write the service file, start the service, and wait until it answers; repeat this after changes';
  addCommand(service, 'install', install, (flags: { readonly print?: boolean }) =>
    work((m, cli) => m.installService(cli, flags)),
  ).option('--print', 'print the service file without changing anything');
  const remove = 'stop the service and remove its file; the data is kept';
  addCommand(service, 'uninstall', remove, () => work((m, cli) => m.uninstallService(cli)));
}

const SIMULATE_NOTES = `Without a scene, a page shows a copy of the platform with several people, a group, buttons, files and faults. The simulated
Parley uses your settings, model and plugins, and a copy of your workspace. Your own conversations do not change, and the
real platform is never contacted. docs/simulate.md explains what the copy enforces, and how scenes become tests.

A scene is played without a page: the terminal shows the conversation, and the exit code is 0 if everything happened as in
the scene and 1 if it did not.`;

export function addSimulateCommand(program: Command, { bare }: CommandRunners): void {
  const work = createModuleRunner(bare, () => import('./commands/simulate/simulate.ts'));
  const what =
    'simulate a platform for your Parley on a page or from a scene, without an account or token';
  const play = new Option('--play <file>', 'the scene').hideHelp();
  const command: Command = addCommand(
    program,
    'simulate [platform] [scene]',
    what,
    (first: string | undefined, second: string | undefined, flags: SimulateFlags) => {
      const words = [first, second, flags.play].filter((word) => word !== undefined);
      const asked = parseSimulateArguments(words);
      if (typeof asked === 'string') command.error(`error: ${asked}`);
      if (asked.scene !== undefined && flags.record !== undefined)
        command.error(
          'error: --record cannot be used with a scene, because a scene is played without a page',
        );
      return work((m, cli) => m.runSimulate(cli, asked, flags));
    },
  );
  command
    .option(
      '--port <number>',
      'serve the page on this port; 0 uses any free port',
      createNumberParser(0, 65_535),
      0,
    )
    .option('--record <file>', 'write everything that happens on the page into a scene file')
    .addOption(play)
    .option('--offline', 'let the built-in model answer, regardless of the settings')
    .option('--workspace', 'let the agent write to your own workspace instead of a copy');
  printFormerOptionNotice(command, play, 'is not needed');
  addExamples(
    command,
    [
      ['parley simulate', 'Telegram on a page'],
      ['parley simulate discord --record scene.jsonl', 'Discord, recorded as a scene'],
      ['parley simulate discord scene.jsonl', 'play that scene again and compare the result'],
      ['parley simulate scene.jsonl --offline', 'on Telegram, without using a real model'],
    ],
    SIMULATE_NOTES,
  );
}

const PLATFORMS: readonly SimulatedPlatform[] = ['telegram', 'discord', 'slack', 'whatsapp'];

/**
 * Parses a platform and a scene file, given in any order. Returns an error message if a word is
 * neither.
 */
function parseSimulateArguments(
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
          ? `(Platforms are ${PLATFORMS.join(', ')}; the name of a scene contains a dot or a slash.)`
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
