/** The packages that contain a program, by package manager; null when there is none. */
interface ProgramPackages {
  readonly debian: string | null;
  readonly alpine: string | null;
  readonly homebrew: string | null;
}

/** Something that a machine may lack and that some tests need. */
interface ProgramRequirement {
  readonly title: string;
  /** The key for `inject` in tests, which returns a URL or a path, or null when it is missing. */
  readonly key: string;
  /** The environment variable that names the program, or disables it with `none`. */
  readonly variable: string;
  /** Possible names of the program; the first one found is used. */
  readonly names: readonly string[];
  /** Programs of the same package that are started together with it. */
  readonly beside?: readonly string[];
  /** Where to look besides the PATH. */
  readonly folders?: readonly string[];
  readonly packages: ProgramPackages;
}

const LINUX_ONLY = { homebrew: null } as const;

/**
 * Everything outside Node and npm that a test may start or need, with how to install it. A test
 * declares it with `inject` and the key, and is skipped if the program is missing. A program that
 * is neither here nor in `ALWAYS_THERE` cannot be started by a test (see `listed-programs.ts`).
 */
export const PROGRAMS = {
  redis: {
    title: 'Redis',
    key: 'redisUrl',
    variable: 'PARLEY_TEST_REDIS_SERVER',
    names: ['redis-server', 'valkey-server'],
    folders: ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'],
    packages: { debian: 'redis-server', alpine: 'redis', homebrew: 'redis' },
  },
  postgres: {
    title: 'PostgreSQL',
    key: 'postgresUrl',
    variable: 'PARLEY_TEST_INITDB',
    names: ['initdb'],
    beside: ['postgres'],
    // Homebrew does not put a versioned PostgreSQL on the PATH; Debian's folders are found by their versions.
    folders: ['/opt/homebrew/opt/postgresql@17/bin', '/usr/local/opt/postgresql@17/bin'],
    packages: { debian: 'postgresql', alpine: 'postgresql', homebrew: 'postgresql@17' },
  },
  pgDump: {
    title: 'pg_dump',
    key: 'pgDumpPath',
    variable: 'PARLEY_TEST_PG_DUMP',
    names: ['pg_dump'],
    beside: ['pg_restore'],
    folders: ['/opt/homebrew/opt/postgresql@17/bin', '/usr/local/opt/postgresql@17/bin'],
    packages: {
      debian: 'postgresql-client',
      alpine: 'postgresql-client',
      homebrew: 'postgresql@17',
    },
  },
  pgbouncer: {
    title: 'PgBouncer',
    key: 'pgbouncerPath',
    variable: 'PARLEY_TEST_PGBOUNCER',
    names: ['pgbouncer'],
    folders: ['/usr/sbin', '/opt/homebrew/bin', '/usr/local/bin'],
    packages: { debian: 'pgbouncer', alpine: 'pgbouncer', homebrew: 'pgbouncer' },
  },
  chromium: {
    title: 'Chromium',
    key: 'chromiumUrl',
    variable: 'PARLEY_TEST_CHROMIUM',
    names: [
      // Does not draw a window, not even an invisible one, so page tests take little more than half
      // the time.
      'chromium-headless-shell',
      'chromium',
      'chromium-browser',
      'google-chrome',
      'Chromium',
      'Google Chrome',
    ],
    folders: [
      '/usr/bin',
      '/snap/bin',
      '/Applications/Chromium.app/Contents/MacOS',
      '/Applications/Google Chrome.app/Contents/MacOS',
    ],
    packages: { debian: 'chromium-headless-shell', alpine: 'chromium', homebrew: 'google-chrome' },
  },
  promtool: {
    title: 'promtool',
    key: 'promtoolPath',
    variable: 'PARLEY_TEST_PROMTOOL',
    names: ['promtool'],
    packages: { debian: 'prometheus', alpine: 'prometheus', homebrew: 'prometheus' },
  },
  systemdAnalyze: {
    title: 'systemd-analyze',
    key: 'systemdAnalyzePath',
    variable: 'PARLEY_TEST_SYSTEMD_ANALYZE',
    names: ['systemd-analyze'],
    packages: { debian: 'systemd', alpine: null, ...LINUX_ONLY },
  },
  bubblewrap: {
    title: 'bubblewrap',
    key: 'bubblewrapPath',
    variable: 'PARLEY_TEST_BUBBLEWRAP',
    names: ['bwrap'],
    packages: { debian: 'bubblewrap', alpine: 'bubblewrap', ...LINUX_ONLY },
  },
  setpriv: {
    title: 'setpriv',
    key: 'setprivPath',
    variable: 'PARLEY_TEST_SETPRIV',
    names: ['setpriv'],
    packages: { debian: 'util-linux', alpine: 'setpriv', ...LINUX_ONLY },
  },
  prlimit: {
    title: 'prlimit',
    key: 'prlimitPath',
    variable: 'PARLEY_TEST_PRLIMIT',
    names: ['prlimit'],
    packages: { debian: 'util-linux', alpine: 'util-linux-misc', ...LINUX_ONLY },
  },
  script: {
    title: 'script',
    key: 'scriptPath',
    variable: 'PARLEY_TEST_SCRIPT',
    names: ['script'],
    packages: { debian: 'bsdutils', alpine: 'util-linux-misc', ...LINUX_ONLY },
  },
  git: {
    title: 'git',
    key: 'gitPath',
    variable: 'PARLEY_TEST_GIT',
    names: ['git'],
    packages: { debian: 'git', alpine: 'git', homebrew: 'git' },
  },
  bash: {
    title: 'Bash',
    key: 'bashPath',
    variable: 'PARLEY_TEST_BASH',
    names: ['bash'],
    packages: { debian: 'bash', alpine: 'bash', homebrew: 'bash' },
  },
  tar: {
    title: 'tar',
    key: 'tarPath',
    variable: 'PARLEY_TEST_TAR',
    names: ['tar'],
    beside: ['gzip'],
    packages: { debian: 'tar', alpine: 'tar', homebrew: 'gnu-tar' },
  },
  mount: {
    title: 'a disk to fill',
    key: 'mountPath',
    variable: 'PARLEY_TEST_MOUNT',
    names: ['mount'],
    beside: ['umount'],
    packages: { debian: 'mount', alpine: 'mount', ...LINUX_ONLY },
  },
  fullDevice: {
    title: '/dev/full',
    key: 'fullDevicePath',
    variable: 'PARLEY_TEST_FULL_DEVICE',
    names: [],
    packages: { debian: null, alpine: null, ...LINUX_ONLY },
  },
  proc: {
    title: '/proc',
    key: 'procPath',
    variable: 'PARLEY_TEST_PROC',
    names: [],
    packages: { debian: null, alpine: null, ...LINUX_ONLY },
  },
} as const satisfies Readonly<Record<string, ProgramRequirement>>;

/**
 * Part of POSIX, so available in Debian, in BusyBox (Alpine) and in macOS; `env` and `sh` start
 * npm's own scripts.
 */
export const ALWAYS_THERE: readonly string[] = [
  'basename',
  'cat',
  'chmod',
  'cp',
  'date',
  'dirname',
  'echo',
  'env',
  'false',
  'grep',
  'head',
  'id',
  'kill',
  'ln',
  'ls',
  'mkdir',
  'mkfifo',
  'mv',
  'printf',
  'rm',
  'sed',
  'sh',
  'sleep',
  'stty',
  'tail',
  'touch',
  'tr',
  'true',
  'uname',
  'wc',
];

/** The Node that runs the tests, the machine's own, and what comes with it. */
export const NODE_PROGRAMS: readonly string[] = ['node', 'npm', 'npx'];

export type ServiceName = keyof typeof PROGRAMS;

export const SERVICE_NAMES = Object.keys(PROGRAMS) as readonly ServiceName[];
