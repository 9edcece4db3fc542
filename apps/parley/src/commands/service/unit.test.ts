import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createLaunchAgent, parseLaunchdState } from './launchd.ts';
import { findUnreadableReason } from './service.ts';
import { parseSystemdState, parseSystemdVersion } from './systemd.ts';
import { createSystemdUnit, type SystemdUnitOptions } from './systemd-unit.ts';

const FACTS: SystemdUnitOptions = {
  kind: 'system',
  version: 252,
  node: '/bin/sh',
  launcher: '/opt/parley/apps/parley/bin/parley.js',
  folder: '/var/lib/parley',
  settingsFile: undefined,
  environmentFile: '/etc/parley/environment',
};
const analyze = inject('systemdAnalyzePath');
const USER = { kind: 'user', folder: '/home/ada/.parley' } as const;

let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'parley-unit-'));
});
afterAll(() => rmSync(scratch, { recursive: true }));

describe('the systemd unit', () => {
  it.each<[string, Partial<SystemdUnitOptions>, readonly string[], readonly string[]]>([
    [
      'of the machine has its own user, who may write only to the data folder',
      {},
      [
        'User=parley',
        'StateDirectory=parley',
        'ProtectSystem=strict',
        'ProtectHome=yes',
        'NoNewPrivileges=yes',
        'CapabilityBoundingSet=',
        'UMask=0077',
        'WantedBy=multi-user.target',
        'EnvironmentFile=-/etc/parley/environment',
        'ExecStart=/bin/sh --max-semi-space-size=8 /opt/parley/apps/parley/bin/parley.js --data /var/lib/parley start',
      ],
      ['ReadWritePaths=/'],
    ],
    [
      'keeps what the sandbox of exec needs',
      {},
      ['RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK'],
      [
        'RestrictNamespaces=',
        'ProtectHostname=',
        'ProtectKernelTunables=',
        'ProtectKernelLogs=',
        'ProcSubset=',
        'MemoryDenyWriteExecute=',
      ],
    ],
    [
      'of the machine may write to another data folder that was named',
      { folder: '/srv/my parley', settingsFile: '/etc/parley/parley.yaml' },
      [
        'ReadWritePaths="/srv/my parley"',
        'WorkingDirectory=/srv/my parley',
        'ExecStart=/bin/sh --max-semi-space-size=8 /opt/parley/apps/parley/bin/parley.js --data "/srv/my parley" --config /etc/parley/parley.yaml start',
      ],
      ['StateDirectory='],
    ],
    [
      'of a user contains nothing that requires privileges',
      USER,
      ['NoNewPrivileges=yes', 'WantedBy=default.target', 'Restart=on-failure'],
      ['User=', 'ProtectSystem=', 'PrivateTmp=', 'CapabilityBoundingSet=', 'network-online.target'],
    ],
    [
      'restarts after growing pauses where systemd supports them',
      { version: 254 },
      ['RestartSec=2s', 'RestartSteps=8', 'RestartMaxDelaySec=5min', 'StartLimitIntervalSec=0'],
      ['RestartSec=15s'],
    ],
    [
      'restarts after constant pauses on an older systemd, and never gives up',
      { version: 252 },
      ['RestartSec=15s', 'StartLimitIntervalSec=0', 'RestartPreventExitStatus=2'],
      ['RestartSteps=', 'RestartMaxDelaySec='],
    ],
    [
      'escapes special characters in paths',
      { folder: '/srv/50% $HOME "x" \\' },
      [
        'WorkingDirectory=/srv/50%% $HOME "x" \\',
        'ReadWritePaths="/srv/50%% $HOME \\"x\\" \\\\"',
        'ExecStart=/bin/sh --max-semi-space-size=8 /opt/parley/apps/parley/bin/parley.js --data "/srv/50%% $$HOME \\"x\\" \\\\" start',
      ],
      [],
    ],
  ])('[U06] %s', (_title, facts, there, missing) => {
    const lines = createSystemdUnit({ ...FACTS, ...facts }).split('\n');
    for (const line of there) expect(lines).toContain(line);
    for (const start of missing)
      expect(lines.filter((line) => line.startsWith(start) || line.includes(`=${start}`))).toEqual(
        [],
      );
  });

  it('[U06] is refused if a path would add lines to the unit', () => {
    expect(() => createSystemdUnit({ ...FACTS, folder: '/srv/a\nExecStartPre=/bin/evil' })).toThrow(
      /control character/,
    );
  });

  it.runIf(analyze)('[U06] passes systemd’s own verification without warnings', () => {
    const files = [{}, { folder: '/srv/my "50%" $HOME' }, USER].map((facts, index) => {
      const unit = createSystemdUnit({ ...FACTS, ...facts });
      mkdirSync(join(scratch, String(index)));
      const file = join(scratch, String(index), 'parley.service');
      writeFileSync(file, unit);
      return file;
    });
    // The runtime folder is set to a temporary folder, because there may be no user session during
    // the test.
    const env = { ...process.env, XDG_RUNTIME_DIR: scratch };
    for (const [index, file] of files.entries()) {
      const args = ['verify', ...(index === 2 ? ['--user'] : []), '--man=no', file];
      const { status, stderr } = spawnSync(analyze ?? '', args, { encoding: 'utf8', env });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    }
    const guards = ['security', '--offline=true', '--threshold=31', files[0] ?? ''];
    expect(spawnSync(analyze ?? '', guards).status).toBe(0);
  });

  it('[U06] reports its state as parsed from systemctl', () => {
    const shown =
      'MainPID=4242\nNRestarts=2\nActiveState=active\nSubState=running\nMemoryCurrent=180000000\nActiveEnterTimestamp=Thu 2026-11-26 16:00:00 UTC\nUnitFileState=enabled\n';
    expect(parseSystemdState(shown)).toEqual({
      text: 'active (running), enabled',
      isFailing: false,
      pid: 4242,
      memoryBytes: 180_000_000,
      since: 'Thu 2026-11-26 16:00:00 UTC',
      restarts: 2,
    });
    const failing =
      'MainPID=0\nActiveState=activating\nSubState=auto-restart\nMemoryCurrent=[not set]\n';
    expect(parseSystemdState(failing)).toMatchObject({
      isFailing: true,
      pid: null,
      memoryBytes: null,
      since: null,
    });
    expect(parseSystemdState('MemoryCurrent=18446744073709551615\n')).toMatchObject({
      memoryBytes: null,
    });
    expect([
      parseSystemdVersion('systemd 257 (257.9-1)\n+PAM'),
      parseSystemdVersion('not here'),
    ]).toEqual([257, 0]);
  });
});

describe('the launchd agent', () => {
  it('[U06] starts at login, restarts after failures, and escapes markup in paths', () => {
    const text = createLaunchAgent(
      { ...FACTS, folder: '/Users/ada/<a> & b' },
      '/Users/ada/parley.log',
    );
    expect(text).toContain('<string>/Users/ada/&lt;a&gt; &amp; b</string>');
    expect(text).toMatch(/<key>RunAtLoad<\/key>\s*<true\/>/);
    expect(text).toMatch(/<key>KeepAlive<\/key>\s*<dict>\s*<key>SuccessfulExit<\/key>\s*<false\/>/);
    expect(text).toMatch(/<key>ThrottleInterval<\/key>\s*<integer>15</);
    // 0o077
    expect(text).toMatch(/<key>Umask<\/key>\s*<integer>63</);
    expect(text.match(/<string>[^<]*<\/string>/g)).toContain(
      '<string>--max-semi-space-size=8</string>',
    );
  });

  it('[U06] reports its state as parsed from launchctl', () => {
    expect(parseLaunchdState('gui/501/parley = {\n\tstate = running\n\tpid = 77\n}')).toMatchObject(
      {
        text: 'running',
        pid: 77,
        isFailing: false,
      },
    );
    expect(
      parseLaunchdState('gui/501/parley = {\n\tstate = not running\n\tlast exit code = 1\n}'),
    ).toMatchObject({ pid: null, isFailing: true });
    expect(parseLaunchdState('Could not find service')).toMatchObject({
      text: 'not loaded',
      isFailing: false,
    });
  });
});

describe('a file that the service user cannot read', () => {
  it('[U06] is detected by the mode of each parent folder, even behind a link', () => {
    const [open, closed] = [join(scratch, 'open'), join(scratch, 'closed')];
    for (const folder of [open, closed]) mkdirSync(folder);
    for (const folder of [scratch, open]) chmodSync(folder, 0o755);
    for (const file of [join(open, 'node'), join(closed, 'node')]) {
      writeFileSync(file, '');
      // The mode is set separately because the umask of the process applies when the file is
      // created.
      chmodSync(file, 0o755);
    }
    chmodSync(closed, 0o700);
    symlinkSync(join(closed, 'node'), join(open, 'link'));
    expect(findUnreadableReason(join(open, 'node'), [])).toBe(null);
    expect(findUnreadableReason(join(open, 'link'), [])).toBe(`other users cannot enter ${closed}`);
    expect(findUnreadableReason(join(closed, 'node'), [])).toBe(
      `other users cannot enter ${closed}`,
    );
    expect(findUnreadableReason(join(open, 'node'), [scratch])).toBe(
      `services cannot see ${scratch}`,
    );
    chmodSync(join(open, 'node'), 0o700);
    expect(findUnreadableReason(join(open, 'node'), [])).toBe('other users cannot enter it');
  });
});
