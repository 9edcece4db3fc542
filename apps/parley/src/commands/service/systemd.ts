import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CliError } from '../../data-folder.ts';
import {
  requireSuccess,
  type ServiceMachine,
  type ServiceManager,
  type ServiceState,
} from './manager.ts';
import {
  createSystemdUnit,
  type ServiceProgram,
  SYSTEM_FOLDER,
  SYSTEM_UNIT,
  SYSTEM_USER,
  UNIT,
} from './systemd-unit.ts';

/** Manages Parley as a systemd service: a system service for root, otherwise a user service. */
export function createSystemdManager(
  machine: ServiceMachine,
  program: ServiceProgram,
): ServiceManager {
  const { uid, env, home, at, run } = machine;
  const isSystem = uid === 0;
  const config = env.XDG_CONFIG_HOME || join(home, '.config');
  const file = isSystem ? at(SYSTEM_UNIT) : join(config, 'systemd/user', UNIT);
  const systemctl = (...args: string[]) => run('systemctl', isSystem ? args : ['--user', ...args]);
  return {
    file,
    readLog: `journalctl ${isSystem ? '-u' : '--user-unit'} ${UNIT} -n 50`,
    text: async () =>
      createSystemdUnit({
        ...program,
        kind: isSystem ? 'system' : 'user',
        version: parseSystemdVersion((await run('systemctl', ['--version'])).out),
        environmentFile: isSystem
          ? at('/etc/parley/environment')
          : join(config, 'parley/environment'),
      }),
    folderIn: (text) => /^WorkingDirectory=(.+)$/m.exec(text)?.[1]?.replaceAll('%%', '%') ?? null,
    async check() {
      if (!existsSync(at('/run/systemd/system'))) throw createNoSystemdError();
      const { code, out } = await systemctl('show-environment');
      if (code !== 0) throw createUnreachableError(isSystem, out);
    },
    async prepare() {
      if (!isSystem) return;
      await addUser(machine);
      if (program.folder !== at(SYSTEM_FOLDER))
        checkOwner(program.folder, await findUserId(machine));
    },
    async start() {
      await requireSuccess(systemctl('daemon-reload'), 'systemd did not reload the unit');
      await requireSuccess(systemctl('enable', UNIT), 'The unit was not enabled');
      await systemctl('reset-failed', UNIT); // The reset fails if no earlier failure is recorded.
      await requireSuccess(systemctl('restart', UNIT), 'The service did not start');
    },
    async stop() {
      await requireSuccess(systemctl('disable', '--now', UNIT), 'The service was not stopped');
    },
    async forget() {
      await requireSuccess(systemctl('daemon-reload'), 'systemd has not unloaded the unit');
      await systemctl('reset-failed', UNIT);
    },
    state: async () =>
      parseSystemdState((await systemctl('show', UNIT, '--property', PROPERTIES)).out),
    notes: () => (isSystem ? [] : createLingerNote(machine)),
  };
}

const PROPERTIES =
  'ActiveState,SubState,MainPID,MemoryCurrent,ActiveEnterTimestamp,UnitFileState,NRestarts';

/**
 * Parses the output of `systemctl show`, in which an unknown number is `[not set]` or the largest
 * possible number.
 */
export function parseSystemdState(shown: string): ServiceState {
  const found = new Map(
    shown.split('\n').map((line) => {
      const end = line.indexOf('=');
      return [line.slice(0, end), line.slice(end + 1).trim()] as const;
    }),
  );
  const number = (name: string): number | null => {
    const value = Number(found.get(name) || Number.NaN);
    return Number.isSafeInteger(value) && value > 0 ? value : null;
  };
  const active = found.get('ActiveState') || 'unknown';
  const sub = found.get('SubState');
  return {
    text: [
      sub === undefined || sub === active ? active : `${active} (${sub})`,
      ...(found.get('UnitFileState') === 'enabled' ? ['enabled'] : []),
    ].join(', '),
    isFailing: active === 'failed' || sub === 'auto-restart',
    pid: number('MainPID'),
    memoryBytes: number('MemoryCurrent'),
    since: found.get('ActiveEnterTimestamp') || null,
    restarts: number('NRestarts') ?? 0,
  };
}

/** Parses the version of systemd; returns 0 if it is unknown. */
export function parseSystemdVersion(said: string): number {
  return Number(/^systemd (\d+)/.exec(said)?.[1] ?? 0);
}

function createNoSystemdError(): CliError {
  return new CliError(
    'service-no-systemd',
    'systemd is not running on this machine (there is no /run/systemd/system), so nothing was written. "service install --print" prints the unit for another machine. In a container, let Docker restart Parley (docs/deploy.md).',
  );
}

function createUnreachableError(isSystem: boolean, said: string): CliError {
  const fix = isSystem
    ? 'Check "systemctl status".'
    : 'Log in as this user directly, over ssh or at the machine, rather than with su or sudo. You can also install a system service as root.';
  return new CliError(
    'service-no-manager',
    `systemctl cannot reach ${isSystem ? 'systemd' : "this user's systemd"} (${said.trim() || 'no error message'}), so nothing was written. ${fix}`,
  );
}

async function addUser({ run }: ServiceMachine): Promise<void> {
  if ((await run('id', ['-u', SYSTEM_USER])).code === 0) return;
  const home = ['--home-dir', SYSTEM_FOLDER, '--no-create-home'];
  const args = ['--system', '--user-group', ...home, '--shell', '/usr/sbin/nologin', SYSTEM_USER];
  await requireSuccess(run('useradd', args), `The user ${SYSTEM_USER} was not created`);
}

async function findUserId({ run }: ServiceMachine): Promise<number> {
  return Number((await run('id', ['-u', SYSTEM_USER])).out.trim());
}

/**
 * Checks that the folder named by --data belongs to the service's user. Parley does not change the
 * owner, because the folder may contain someone else's files.
 */
function checkOwner(folder: string, uid: number): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.uid === uid) return;
  const fix =
    found === undefined
      ? `install -d -o ${SYSTEM_USER} -g ${SYSTEM_USER} -m 700 '${folder}'`
      : `chown -R ${SYSTEM_USER}: '${folder}'`;
  throw new CliError(
    'service-folder',
    `The data folder ${folder} ${found === undefined ? 'does not exist' : `does not belong to the user ${SYSTEM_USER}`}, which runs the service. Run "${fix}" and install again.`,
  );
}

/** Without lingering, a user's services end when the user logs out. */
function createLingerNote({ at, user }: ServiceMachine): readonly string[] {
  if (existsSync(at(`/var/lib/systemd/linger/${user}`))) return [];
  return [
    `Boot      it runs while ${user} is logged in; with "sudo loginctl enable-linger ${user}", it starts when the machine boots`,
  ];
}
