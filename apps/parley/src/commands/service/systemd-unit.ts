import { CliError } from '../../data-folder.ts';

/** The program that the service runs, and its folders, as absolute paths. */
export interface ServiceProgram {
  readonly node: string;
  readonly launcher: string;
  readonly folder: string;
  /** The path of the settings file; undefined if it is parley.yaml in the data folder. */
  readonly settingsFile: string | undefined;
}

export interface SystemdUnitOptions extends ServiceProgram {
  /**
   * `system` is a system service with its own user. `user` is a user service for the person who
   * installs it.
   */
  readonly kind: 'system' | 'user';
  /** The version of systemd. Directives that this version does not support are omitted. */
  readonly version: number;
  /**
   * An optional file with `NAME=value` lines that set the variables for `${NAME}` in the settings.
   */
  readonly environmentFile: string;
}

export const SYSTEM_USER = 'parley';
/** The folder that systemd creates for `StateDirectory=parley`. */
export const SYSTEM_FOLDER = '/var/lib/parley';
export const UNIT = 'parley.service';
export const SYSTEM_UNIT = `/etc/systemd/system/${UNIT}`;

/** Flags for Node. Without them, the launcher would start a second process to add them. */
const NODE_FLAGS = ['--max-semi-space-size=8'];

/** Returns the command line, beginning with the program. */
export function toCommandLine({ node, launcher, folder, settingsFile }: ServiceProgram): string[] {
  const settings = settingsFile === undefined ? [] : ['--config', settingsFile];
  return [node, ...NODE_FLAGS, launcher, '--data', folder, ...settings, 'start'];
}

/** Returns the text of the unit. Throws CliError for a path that a unit cannot contain. */
export function createSystemdUnit(facts: SystemdUnitOptions): string {
  const { kind, folder, environmentFile } = facts;
  const words = toCommandLine(facts);
  for (const path of [...words, environmentFile]) refuseControlCharacters(path);
  const [program = '', ...rest] = words;
  const isSystem = kind === 'system';
  return [
    '# Written by "parley service install", which overwrites it. Keep your own changes in a drop-in file:',
    `#   ${isSystem ? 'systemctl' : 'systemctl --user'} edit ${UNIT}`,
    '[Unit]',
    'Description=Parley, one agent in every chat',
    ...(isSystem
      ? [
          'Wants=network-online.target',
          'After=network-online.target postgresql.service redis-server.service valkey-server.service',
        ]
      : []),
    '# There is no limit on restarts, because a database may be unavailable for hours.',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=exec',
    `ExecStart=${[quoteWord(program), ...rest.map((word) => quoteWord(word.replaceAll('$', '$$$$')))].join(' ')}`,
    `WorkingDirectory=${escapePercent(folder)}`,
    '# Few malloc arenas are used, because each keeps the memory that its threads have freed.',
    'Environment=MALLOC_ARENA_MAX=2',
    '# Keys that the settings read from variables, one NAME=value per line. The file needs mode 0600.',
    `EnvironmentFile=-${escapePercent(environmentFile)}`,
    ...ENDING,
    ...createBackoffLines(facts),
    'UMask=0077',
    '',
    ...(isSystem ? createHardeningLines(folder) : USER_GUARDS),
    '',
    '[Install]',
    `WantedBy=${isSystem ? 'multi-user.target' : 'default.target'}`,
    '',
  ].join('\n');
}

const ENDING = [
  '# Parley and its child processes end within 10 s of SIGTERM.',
  'KillMode=mixed',
  'TimeoutStopSec=15s',
  "# If one of the agent's commands uses too much memory, only that command is killed.",
  'OOMPolicy=continue',
];

/** The first version of systemd that can increase the restart delay after each failure. */
const KNOWS_STEPS = 254;

function createBackoffLines({ version }: SystemdUnitOptions): string[] {
  const pause =
    version >= KNOWS_STEPS
      ? ['RestartSec=2s', 'RestartSteps=8', 'RestartMaxDelaySec=5min']
      : [
          `# The delay is constant, because systemd before ${KNOWS_STEPS} cannot increase it.`,
          'RestartSec=15s',
        ];
  // Exit code 2 means incorrect usage, which a restart cannot fix.
  return ['Restart=on-failure', 'RestartPreventExitStatus=2', ...pause];
}

/** Restrictions that do not affect unprivileged processes or the sandbox for commands. */
const COMMON_GUARDS = [
  'NoNewPrivileges=yes',
  'LockPersonality=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'SystemCallArchitectures=native',
  'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK',
  'SystemCallFilter=~@clock @cpu-emulation @debug @module @obsolete @raw-io @reboot @swap',
  'SystemCallErrorNumber=EPERM',
];

const USER_GUARDS = [
  '# Restricting mounts or devices requires a system service: install it as root.',
  ...COMMON_GUARDS,
];

function createHardeningLines(folder: string): string[] {
  return [
    `User=${SYSTEM_USER}`,
    `Group=${SYSTEM_USER}`,
    ...(folder === SYSTEM_FOLDER
      ? ['StateDirectory=parley', 'StateDirectoryMode=0700']
      : [`ReadWritePaths=${quoteWord(folder)}`]),
    '',
    '# The whole system is read-only except the data folder; a workspace elsewhere needs ReadWritePaths=.',
    'ProtectSystem=strict',
    'ProtectHome=yes',
    'PrivateTmp=yes',
    'PrivateDevices=yes',
    'PrivateIPC=yes',
    'ProtectProc=invisible',
    'ProtectClock=yes',
    'ProtectControlGroups=yes',
    'ProtectKernelModules=yes',
    'RemoveIPC=yes',
    'KeyringMode=private',
    'CapabilityBoundingSet=',
    'AmbientCapabilities=',
    ...COMMON_GUARDS,
    '# Omitted on purpose: the sandbox for commands (bwrap) creates namespaces, a host name and its own /proc,',
    '# so RestrictNamespaces, ProtectHostname, ProtectKernelTunables, ProtectKernelLogs and ProcSubset would break the',
    '# exec tool. MemoryDenyWriteExecute would break Node, which compiles at run time.',
  ];
}

function refuseControlCharacters(path: string): void {
  if (!/\p{Cc}/u.test(path)) return;
  throw new CliError(
    'service-path',
    `${JSON.stringify(path)} contains a control character, which a service file does not allow in a path. Rename it.`,
  );
}

/** Escapes a value that systemd uses as one word. */
function escapePercent(text: string): string {
  return text.replaceAll('%', '%%');
}

/** Quotes one word of a value that systemd splits at spaces. */
function quoteWord(word: string): string {
  const text = escapePercent(word);
  return /^[\w./:=@+,%$-]+$/.test(text) ? text : `"${text.replaceAll(/[\\"]/g, '\\$&')}"`;
}
