import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type DeploymentScene, openScene } from './scene.ts';

const [redisUrl, postgresUrl] = [inject('redisUrl'), inject('postgresUrl')];
const SHIFTED = resolve(import.meta.dirname, 'shifted-clock.ts');
const shifted = { NODE_OPTIONS: `--import ${SHIFTED}`, CLOCK_SHIFT_MS: '3000' };

describe.runIf(redisUrl && postgresUrl)('a process that does not match its deployment', () => {
  let scene: DeploymentScene;
  let elsewhere: string;
  beforeEach(async () => {
    elsewhere = mkdtempSync(join(tmpdir(), 'parley-elsewhere-'));
    scene = await openScene({ redisUrl: redisUrl ?? '', postgresUrl: postgresUrl ?? '' });
  });
  afterEach(async () => {
    await scene.close();
    rmSync(elsewhere, { recursive: true });
  });

  it('[D12] [D10] reports the mismatch at startup and in the status, and refuses to start if it would do harm', {
    timeout: 120_000,
  }, async () => {
    const { deployment } = scene;
    await deployment.start('gateway');
    const worker = await deployment.start('worker');
    const other = await deployment.startApart('worker', {
      settings: { owners: [] },
      env: shifted,
    });
    expect(worker.words()).not.toContain('does not fit');
    expect(other.words()).toContain('its settings differ in owners');
    expect(other.words()).toMatch(/its clock is [23]\.\d s ahead of the database's/);
    const status = await deployment.command('status');
    expect(status.out).toContain(`(${other.pid}): its settings differ in owners`);
    expect(status.out).toMatch(new RegExp(`\\(${other.pid}\\): its clock is [23]\\.\\d s ahead`));
    expect(status.out.match(/^stranger/gm)).toHaveLength(2);
    expect(status.code).toBe(1);
    const settings = { agent: { workspace: join(elsewhere, 'workspace') } };
    const refused = deployment.start('worker', 0, { settings, clock: () => Date.now() + 9_000 });
    await expect(refused).rejects.toThrow(
      /does not match the (?:gateway|worker) on .*its clock is [89]\.\d s ahead.*its workspace \(agent\.workspace\) is not the folder/,
    );
  });
});
