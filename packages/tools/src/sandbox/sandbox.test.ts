import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest';
import { CANARY, openSandboxScene, type SandboxScene } from './testing/sandbox-scene.ts';

let scene: SandboxScene;
beforeEach(() => {
  scene = openSandboxScene();
});
afterEach(() => scene.close());

const bubblewrap = inject('bubblewrapPath');
const never = new AbortController().signal;

describe.runIf(bubblewrap)('a command in the sandbox', () => {
  it('[G06] runs in the workspace and returns both outputs in order', async () => {
    const result = await scene.run(
      'echo one; echo two >&2; echo three; pwd; echo x > made; exit 3',
    );
    expect(result).toMatchObject({ exitCode: 3, signal: null, ended: null });
    expect(result.output).toBe(`one\ntwo\nthree\n${scene.workspace}\n`);
    expect(scene.read('made')).toBe('x\n');
  });

  it('[G06] reports the signal that ended it', async () => {
    expect(await scene.run('kill -SEGV $$')).toMatchObject({ exitCode: 139, signal: 'SIGSEGV' });
  });

  it('[G06] cannot read passwords, the home folder or the data folder that contains the workspace', async () => {
    const home = homedir();
    const paths = ['/etc/shadow', home, join(scene.data, 'token'), join(scene.data, 'parley.db')];
    for (const path of [
      ...paths,
      '../token',
      '/root',
      '/home',
      '/var',
      '/sys',
      '/proc/1/root/root',
    ]) {
      expect(await scene.run(`cat ${path} || ls ${path}`)).not.toMatchObject({ exitCode: 0 });
    }
    const { output } = await scene.run(
      `ls ..; grep -rsl ${CANARY} / --exclude-dir=proc --exclude-dir=usr; cat /proc/*/root${scene.data}/token`,
    );
    expect(output).not.toContain(CANARY);
    expect(output.split('\n')[0]).toBe('workspace');
  });

  it('[G06] cannot follow a link out of the workspace', async () => {
    symlinkSync(join(scene.data, 'token'), join(scene.workspace, 'token'));
    symlinkSync('/etc/shadow', join(scene.workspace, 'shadow'));
    const { output, exitCode } = await scene.run(
      'cat token shadow; ln -s / root; cat root/etc/shadow',
    );
    expect(exitCode).not.toBe(0);
    expect(output).not.toContain(CANARY);
    expect(output).not.toContain('root:');
  });

  it('[G06] cannot read Parley’s environment, not even through the first process', async () => {
    process.env.PARLEY_TEST_SECRET = CANARY;
    onTestFinished(() => {
      delete process.env.PARLEY_TEST_SECRET;
    });
    const { output } = await scene.run('env; cat /proc/*/environ | tr "\\0" "\\n"');
    expect(output).not.toContain(CANARY);
    expect(output).toContain(`HOME=${scene.workspace}`);
  });

  it('[G06] cannot write outside the workspace and its own /tmp', async () => {
    const targets = ['/made', '/usr/made', '/etc/made', '/dev/made', '/home', '/etc/passwd'];
    for (const path of targets) {
      expect(await scene.run(`echo x >> ${path}`)).not.toMatchObject({ exitCode: 0 });
    }
    await scene.run('echo x > ../made; echo x > ../token');
    expect(existsSync(join(scene.data, 'made'))).toBe(false);
    expect(readFileSync(join(scene.data, 'token'), 'utf8')).toBe(CANARY);
    expect(await scene.run('echo x > /tmp/parley-made && ls -A /tmp')).toMatchObject({
      exitCode: 0,
    });
    expect(existsSync('/tmp/parley-made')).toBe(false);
  });

  it('[G06] has no capabilities and cannot gain any', async () => {
    const { output } = await scene.run(
      'id -un; grep -E "^(CapEff|CapBnd|NoNewPrivs)" /proc/self/status; unshare --user true || echo no namespace; mount -t tmpfs x /mnt || echo no mount',
    );
    expect(output).toMatch(/^parley\n/);
    expect(output).toMatch(/CapEff:\t0+\n/);
    expect(output).toMatch(/CapBnd:\t0+\n/);
    expect(output).toMatch(/NoNewPrivs:\t1/);
    expect(output).toContain('no namespace');
    expect(output).toContain('no mount');
  });

  it('[G06] sees only its own processes, none of which outlives it', async () => {
    const { output } = await scene.run(
      'ls /proc | grep -cE "^[0-9]+$"; (sleep 2; touch late) & setsid sh -c "sleep 2; touch later" &',
    );
    expect(Number(output.trim())).toBeLessThan(8);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(existsSync(join(scene.workspace, 'late'))).toBe(false);
    expect(existsSync(join(scene.workspace, 'later'))).toBe(false);
  });
});

describe.runIf(bubblewrap)('the network access of a command', () => {
  async function serve(): Promise<number> {
    const server = createServer((_, response) => response.end('reached'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const address: AddressInfo | string | null = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }
  const ask = (port: number) =>
    `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`;

  it('[G06] is off by default: not even servers on this machine can be reached', async () => {
    const port = await serve();
    const { output, exitCode } = await scene.run(ask(port));
    expect(exitCode).not.toBe(0);
    expect(output).not.toContain('reached');
  });

  it('[G06] is on if the settings enable it', async () => {
    const sandbox = scene.open({ network: true });
    const { output } = await sandbox.run(ask(await serve()), { signal: never });
    expect(output).toContain('reached');
  });
});

describe('SOUL.md', () => {
  const tries =
    'echo evil > SOUL.md; rm -f SOUL.md; mv SOUL.md old; ln SOUL.md twin; cp SOUL.md new && mv new SOUL.md; cat SOUL.md';

  it.runIf(bubblewrap)(
    '[W06] a protected file can be read but not changed by commands',
    async () => {
      const { output } = await scene.run(tries);
      expect(output).toContain('Be kind.');
      expect(scene.read('SOUL.md')).toBe('Be kind.');
      expect(existsSync(join(scene.workspace, 'twin'))).toBe(false);
    },
  );

  it('[W06] a missing protected file prevents commands from running, because they could create it', async () => {
    const run = scene.sandbox.run('touch ran', { signal: never, closed: ['BARE.md'] });
    await expect(run).rejects.toMatchObject({ code: 'sandbox-folder' });
    expect(existsSync(join(scene.workspace, 'ran'))).toBe(false);
  });

  it('[W06] a protected file that is a link prevents commands from running, because its target would be exposed', async () => {
    symlinkSync(join(scene.data, 'token'), join(scene.workspace, 'LINK.md'));
    const run = scene.sandbox.run('cat LINK.md', { signal: never, closed: ['LINK.md'] });
    await expect(run).rejects.toMatchObject({ code: 'sandbox-folder' });
  });
});

describe.runIf(bubblewrap)('a closed path', () => {
  it('[W09] cannot be moved, and neither can the writable folders that contain it', async () => {
    mkdirSync(join(scene.workspace, 'a/b/closed'), { recursive: true });
    writeFileSync(join(scene.workspace, 'a/b/closed/x.md'), 'as it was');
    const tries =
      'mv a c; mv a/b c; mv a/b/closed c; rm -rf a; echo evil > a/b/closed/x.md; echo evil > a/b/closed/y.md; echo fine > a/b/z.md';
    await scene.sandbox.run(tries, { signal: never, closed: ['a/b/closed/'] });
    expect(scene.read('a/b/closed/x.md')).toBe('as it was');
    expect(scene.read('a/b/z.md')).toBe('fine\n');
    expect(existsSync(join(scene.workspace, 'a/b/closed/y.md'))).toBe(false);
  });

  it('[W09] can be the whole workspace', async () => {
    const { exitCode } = await scene.sandbox.run('echo x > y', { signal: never, closed: [''] });
    expect(exitCode).not.toBe(0);
    expect(existsSync(join(scene.workspace, 'y'))).toBe(false);
  });
});

describe('a machine or workspace that does not allow a sandbox', () => {
  it('[G06] does not run commands without bubblewrap, and explains how to install it', async () => {
    const run = scene.open({ program: '/nowhere/bwrap' }).run('touch ran', { signal: never });
    await expect(run).rejects.toMatchObject({
      code: 'sandbox-missing',
      message: expect.stringContaining('apt install bubblewrap'),
    });
    expect(existsSync(join(scene.workspace, 'ran'))).toBe(false);
  });

  it('[G06] does not run commands if user namespaces are forbidden, and explains what to allow', async () => {
    const program = join(scene.data, 'bwrap');
    writeFileSync(
      program,
      '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n',
      { mode: 0o755 },
    );
    const run = scene.open({ program }).run('touch ran', { signal: never });
    await expect(run).rejects.toMatchObject({
      code: 'sandbox-forbidden',
      message: expect.stringMatching(/No permissions.*unprivileged_userns/),
    });
    expect(existsSync(join(scene.workspace, 'ran'))).toBe(false);
  });

  it('[G06] does not run commands in a workspace that contains the data folder or the home folder', async () => {
    for (const workspace of [scene.data, '/']) {
      const run = scene.open({ workspace }).run('cat token', { signal: never });
      await expect(run).rejects.toMatchObject({ code: 'sandbox-folder' });
    }
  });
});
