import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CliContext } from '../../cli.ts';
import {
  announceGateway,
  getDefaultDataFolder,
  locateDataFolder,
  readToken,
} from '../../data-folder.ts';
import { SYSTEMCTL } from '../../testing/systemctl.ts';
import { createSession } from '../access.ts';
import { getCurrentMachine, type ServiceMachine } from './manager.ts';
import { installService, showServiceStatus, uninstallService } from './service.ts';

const LAUNCHER = resolve(import.meta.dirname, '../../../bin/parley.js');

const USERADD = `#!/bin/sh
echo "useradd $*" >>"$(dirname "$0")/calls"
touch "$(dirname "$0")/user"
`;
const ID = `#!/bin/sh
[ -f "$(dirname "$0")/user" ] && echo 999
`;

let root: string;
let programs: string;
let printed: string[];
let umask = 0o022;
beforeEach(() => {
  // An earlier command in this process may have restricted the mode of new files.
  umask = process.umask(0o022);
  root = mkdtempSync(join(tmpdir(), 'parley-service-'));
  chmodSync(root, 0o755);
  programs = join(root, 'bin');
  for (const folder of ['bin', 'run/systemd/system', 'home', 'var/lib/parley'])
    mkdirSync(join(root, folder), { recursive: true, mode: 0o755 });
  const doubles = { systemctl: SYSTEMCTL, useradd: USERADD, id: ID };
  for (const [name, text] of Object.entries(doubles))
    writeFileSync(join(programs, name), text, { mode: 0o755 });
  printed = [];
});
afterEach(() => {
  process.umask(umask);
  const pid = Number(existsSync(join(programs, 'pid')) && written('pid'));
  if (pid > 0 && existsSync(join(programs, 'loaded')))
    spawnSync(join(programs, 'systemctl'), ['disable']);
  rmSync(root, { recursive: true, force: true });
});

const written = (name: string) => readFileSync(join(programs, name), 'utf8');

function machine(change: Partial<ServiceMachine>): ServiceMachine {
  const env = { PATH: `${programs}:/usr/bin:/bin` };
  return {
    ...getCurrentMachine(env),
    ...{ platform: 'linux', home: join(root, 'home'), user: 'ada', launcher: LAUNCHER },
    at: (path) => join(root, path),
    ...change,
  };
}

function cliOn(path: string): CliContext {
  return { folder: locateDataFolder(path, {}), env: {}, print: (text) => printed.push(text) };
}

describe('a user service', () => {
  const user = () => machine({ uid: 1000 });

  it('[U06] can be installed, run, reinstalled, and removed without its data', async () => {
    const cli = cliOn(join(root, 'home/.parley'));
    const unit = join(root, 'home/.config/systemd/user/parley.service');
    writeFileSync(join(programs, 'unit'), unit);
    mkdirSync(cli.folder.path, { mode: 0o700 });
    writeFileSync(cli.folder.settingsFile, JSON.stringify({ model: 'offline', http: { port: 0 } }));

    expect(await installService(cli, {}, user())).toBe(0);
    expect(printed[0]).toBe(`Written: ${unit}\n\n${readFileSync(unit, 'utf8')}`);
    const [, address = ''] = /^Page +(http:\/\/127\.0\.0\.1:\d+)$/m.exec(printed[1] ?? '') ?? [];
    expect(printed[1]).toContain('sessions new --data');
    expect(printed[1]).toContain('loginctl enable-linger ada');
    expect((await fetch(`${address}/healthz`)).status).toBe(200);
    expect(await showServiceStatus(cli, user())).toBe(0);
    expect(printed[2]).toContain(`process   ${written('pid').trim()}\nmemory    150 MB`);
    expect(printed[2]).toContain('health    ok');
    expect(await createSession(cli)).toBe(0);
    expect(printed[3]).toMatch(/#token=parley_session_/);

    const first = written('pid');
    expect(await installService(cli, {}, user())).toBe(0);
    expect(printed[4]).toContain(`Unchanged: ${unit}`);
    expect(written('pid')).not.toBe(first);

    // Without --data, the command uses the data folder of the installed service.
    expect(await uninstallService(cliOn(join(root, 'other')), user())).toBe(0);
    expect(printed[6]).toContain(`The data in ${cli.folder.path} is kept`);
    expect([existsSync(unit), existsSync(cli.folder.settingsFile)]).toEqual([false, true]);
    await expect(fetch(`${address}/healthz`)).rejects.toThrow();
    expect(await showServiceStatus(cli, user())).toBe(3);
    const journal = written('log');
    expect(journal).toContain('Parley has stopped. Nothing was lost.');
    for (const secret of [readToken(cli.folder) ?? 'none', 'parley_session_'])
      expect(journal).not.toContain(secret);
  });

  it('[U06] is not installed while another Parley process holds its data folder', async () => {
    const cli = cliOn(join(root, 'home/.parley'));
    mkdirSync(cli.folder.path);
    const end = announceGateway(cli.folder, 'http://127.0.0.1:1');
    await expect(installService(cli, {}, user())).rejects.toMatchObject({ code: 'service-busy' });
    end();
    expect(existsSync(join(root, 'home/.config'))).toBe(false);
  });

  it.each([
    ['service-no-systemd', () => rmSync(join(root, 'run'), { recursive: true })],
    [
      'service-no-manager',
      () => writeFileSync(join(programs, 'systemctl'), '#!/bin/sh\necho no bus >&2; exit 1\n'),
    ],
  ])(
    '[U06] is refused with the error %s if systemd cannot run it, and nothing is written',
    async (code, spoil) => {
      spoil();
      const cli = cliOn(join(root, 'home/.parley'));
      await expect(installService(cli, {}, user())).rejects.toMatchObject({ code });
      expect([existsSync(join(root, 'home/.config')), existsSync(cli.folder.path)]).toEqual([
        false,
        false,
      ]);
      expect(await installService(cli, { print: true }, user())).toBe(0);
      expect(printed[0]).toContain('[Service]');
    },
  );
});

const SYSTEM = { unit: '/etc/systemd/system/parley.service', data: '/var/lib/parley' };
/**
 * The test changes the machine, so it runs only on request and only if the machine has no Parley
 * service.
 */
const isReal =
  process.env.PARLEY_TEST_SYSTEMD === '1' &&
  process.getuid?.() === 0 &&
  existsSync('/run/systemd/system') &&
  ![SYSTEM.unit, SYSTEM.data].some((path) => existsSync(path));

// The test is not registered on other machines, so that it does not count as skipped.
if (isReal)
  describe('on a machine with systemd', () => {
    afterAll(() => rmSync(SYSTEM.data, { recursive: true, force: true }));

    it('[U06] installs a service that answers, restarts it after a kill, and removes it', async () => {
      const cli = { ...cliOn(getDefaultDataFolder()), env: process.env };
      const pid = () => /^process +(\d+)$/m.exec(printed.at(-1) ?? '')?.[1];
      try {
        expect(await installService(cli, {})).toBe(0);
        expect(await showServiceStatus(cli)).toBe(0);
        const first = pid();
        process.kill(Number(first), 'SIGKILL');
        await expect.poll(() => showServiceStatus(cli), { timeout: 60_000, interval: 500 }).toBe(0);
        expect(pid()).not.toBe(first);
      } finally {
        expect(await uninstallService(cli)).toBe(0);
      }
      expect([existsSync(SYSTEM.unit), existsSync(SYSTEM.data)]).toEqual([false, true]);
    }, 120_000);
  });

describe('a system service', () => {
  it('[U06] runs as its own user, and says where the log is if the process ends immediately', async () => {
    const unit = join(root, 'etc/systemd/system/parley.service');
    writeFileSync(join(programs, 'unit'), unit);
    // The shell rejects Node's flags, so the process ends immediately.
    const broken = machine({ uid: 0, node: '/bin/sh', launcher: join(programs, 'id') });
    const cli = cliOn(join(root, 'var/lib/parley'));
    expect(await installService(cli, {}, broken)).toBe(1);
    expect(printed[1]).toMatch(/ended immediately, failed.*journalctl -u parley\.service -n 50/);
    expect(written('calls')).toContain(
      'useradd --system --user-group --home-dir /var/lib/parley --no-create-home --shell /usr/sbin/nologin parley',
    );
    expect(readFileSync(unit, 'utf8')).toMatch(/^User=parley$/m);
    expect(await showServiceStatus(cli, broken)).toBe(1);
    expect(await showServiceStatus(cli, machine({ uid: 1000 }))).toBe(3);
    expect(printed.at(-1)).toContain(
      `A system service is installed, ${unit}. Run this command as root.`,
    );
    expect(await uninstallService(cli, broken)).toBe(0);
    expect(printed.at(-1)).toContain('is kept, and the user parley');
    expect(await showServiceStatus(cli, machine({ uid: 1000 }))).toBe(3);
    expect(printed.at(-1)).toContain('service install --data');
  });

  it.each<[string, string, (root: string) => Partial<ServiceMachine>]>([
    ['service-unreachable', 'var/lib/parley', (at) => ({ launcher: join(at, 'root/parley.js') })],
    ['service-folder', 'home/data', (at) => ({ launcher: join(at, 'bin/id') })],
  ])('[U06] is refused with the error %s, and nothing is written', async (code, data, change) => {
    mkdirSync(join(root, 'root'), { mode: 0o700 });
    writeFileSync(join(root, 'root/parley.js'), '');
    const asked = installService(
      cliOn(join(root, data)),
      {},
      machine({ uid: 0, node: '/bin/sh', ...change(root) }),
    );
    await expect(asked).rejects.toMatchObject({
      code,
      message: expect.stringMatching(/or (install|choose)/),
    });
    expect(existsSync(join(root, 'etc'))).toBe(false);
    expect(written('calls')).not.toContain('useradd');
  });
});
