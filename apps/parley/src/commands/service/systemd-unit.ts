import { CliError } from '../../data-folder.ts';

/** The program of the service and its folders. All paths are absolute. */
export interface ServiceProgram {
  readonly node: string;
  readonly launcher: string;
  readonly folder: string;
  /** Undefined for parley.yaml in the data folder. */
  readonly settingsFile: string | undefined;
}

export interface UnitFacts extends ServiceProgram {
  /**
   * `system` is a system service with its own user. `user` is a user service of the person who
   * installs it.
   */
  readonly kind: 'system' | 'user';
  /** The version of systemd; directives that it does not know are omitted. */
  readonly version: number;
  /** An optional file of `NAME=value` lines for `${NAME}` in the settings. */
  readonly environmentFile: string;
}

export const SYSTEM_USER = 'parley';
/** The folder that systemd creates for `StateDirectory=parley`. */
export const SYSTEM_FOLDER = '/var/lib/parley';
export const UNIT = 'parley.service';
export const SYSTEM_UNIT = `/etc/systemd/system/${UNIT}`;

/**
 * Node's flags, which the launcher would otherwise add by starting another process under systemd.
 */
const NODE_FLAGS = ['--max-semi-space-size=8'];

/** The command line, beginning with the program. */
export function toCommandLine({ node, launcher, folder, settingsFile }: ServiceProgram): string[] {
  const settings = settingsFile === undefined ? [] : ['--config', settingsFile];
  return [node, ...NODE_FLAGS, launcher, '--data', folder, ...settings, 'start'];
}

/** The text of the unit. Throws CliError for a path that a unit cannot contain. */
export function createSystemdUnit(facts: UnitFacts): string {
  const { kind, folder, environmentFile } = facts;
  const words = toCommandLine(facts);
  for (const path of [...words, environmentFile]) refuseControlCharacters(path);
  const [program = '', ...rest] = words;
  const isSystem = kind === 'system';
  return [
    '# Written by "parley service install", which replaces it. Your own changes are kept beside it:',
    `#   ${isSystem ? 'systemctl' : 'systemctl --user'} edit ${UNIT}`,
    '[Unit]',
    'Description=Parley, one agent in every chat',
    ...(isSystem
      ? [
          'Wants=network-online.target',
          'After=network-online.target postgresql.service redis-server.service valkey-server.service',
        ]
      : []),
    '# Never given up: a database may be away for hours.',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=exec',
    `ExecStart=${[quoteWord(program), ...rest.map((word) => quoteWord(word.replaceAll('$', '$$$$')))].join(' ')}`,
    `WorkingDirectory=${escapePercent(folder)}`,
    '# Few arenas of malloc: each keeps what threads have freed.',
    'Environment=MALLOC_ARENA_MAX=2',
    '# Keys that the settings take from variables, one NAME=value a line. Mode 0600.',
    `EnvironmentFile=-${escapePercent(environmentFile)}`,
    ...ENDING,
    ...createBackoffLines(facts),
    'UMask=0077',
    '',
    ...(isSystem ? createSystemGuards(folder) : USER_GUARDS),
    '',
    '[Install]',
    `WantedBy=${isSystem ? 'multi-user.target' : 'default.target'}`,
    '',
  ].join('\n');
}

const ENDING = [
  '# Parley ends within 10 s of SIGTERM, and ends what it has started.',
  'KillMode=mixed',
  'TimeoutStopSec=15s',
  '# A command of the agent that takes too much memory ends alone.',
  'OOMPolicy=continue',
];

/** The first version of systemd that can increase the delay after each failure. */
const KNOWS_STEPS = 254;

function createBackoffLines({ version }: UnitFacts): string[] {
  const pause =
    version >= KNOWS_STEPS
      ? ['RestartSec=2s', 'RestartSteps=8', 'RestartMaxDelaySec=5min']
      : [
          `# Always the same pause: systemd before ${KNOWS_STEPS} has no growing one.`,
          'RestartSec=15s',
        ];
  // Exit code 2 means wrong usage, which a restart cannot fix.
  return ['Restart=on-failure', 'RestartPreventExitStatus=2', ...pause];
}

/** Restrictions that affect neither unprivileged processes nor the sandbox for commands. */
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
  '# What restricts mounts or devices needs a service of the machine: install it as root.',
  ...COMMON_GUARDS,
];

function createSystemGuards(folder: string): string[] {
  return [
    `User=${SYSTEM_USER}`,
    `Group=${SYSTEM_USER}`,
    ...(folder === SYSTEM_FOLDER
      ? ['StateDirectory=parley', 'StateDirectoryMode=0700']
      : [`ReadWritePaths=${quoteWord(folder)}`]),
    '',
    '# The whole system is read-only but for the data folder; a workspace elsewhere needs ReadWritePaths=.',
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
    '# Left out on purpose: the sandbox for commands (bwrap) makes namespaces, a host name and a /proc of its own,',
    '# so RestrictNamespaces, ProtectHostname, ProtectKernelTunables, ProtectKernelLogs and ProcSubset would end the',
    '# tool exec. MemoryDenyWriteExecute would end Node, which compiles at run time.',
  ];
}

function refuseControlCharacters(path: string): void {
  if (!/\p{Cc}/u.test(path)) return;
  throw new CliError(
    'service-path',
    `${JSON.stringify(path)} has a control character, and a service cannot name such a path. Rename it.`,
  );
}

/** Escapes a value that systemd does not split into words. */
function escapePercent(text: string): string {
  return text.replaceAll('%', '%%');
}

/** Quotes one word of a value that systemd splits at spaces. */
function quoteWord(word: string): string {
  const text = escapePercent(word);
  return /^[\w./:=@+,%$-]+$/.test(text) ? text : `"${text.replaceAll(/[\\"]/g, '\\$&')}"`;
}
