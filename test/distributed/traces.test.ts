import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type OtlpCollector, startOtlpCollector } from '../services/otlp-collector.ts';
import { type DeploymentScene, openScene } from './scene.ts';

const [redisUrl, postgresUrl] = [inject('redisUrl'), inject('postgresUrl')];
const STAGES = [
  'parley.ingress',
  'process turns',
  'parley.turn',
  'parley.model',
  'parley.outbox',
  'parley.delivery',
  'parley.receipt',
];

describe.runIf(redisUrl && postgresUrl)('a message that passes through several processes', () => {
  let collector: OtlpCollector;
  let scene: DeploymentScene;
  beforeEach(async () => {
    collector = await startOtlpCollector();
    const services = { redisUrl: redisUrl ?? '', postgresUrl: postgresUrl ?? '' };
    scene = await openScene(services, { telemetry: { otlp: { url: collector.url } } });
  });
  afterEach(async () => {
    await scene.close();
    await collector.close();
  });

  it('[D09] [D10] is one trace through gateway and worker, and one timeline', async () => {
    const { deployment } = scene;
    const gateway = await deployment.start('gateway');
    // Tracing is global to a process: gateways and workers in one process would export their spans
    // together.
    const worker = await deployment.startApart('worker');
    await scene.ask('who is there?');
    const names = () => new Set(collector.spans().map(({ name }) => name));
    await expect
      .poll(() => STAGES.filter((name) => !names().has(name)), { timeout: 10_000 })
      .toEqual([]);
    expect(new Set(collector.spans().map(({ traceId }) => traceId)).size).toBe(1);
    // Each batch comes from one process.
    const processes = collector
      .bodies()
      .map((body) => /"service.instance.id".*?"(process_\w+)"/.exec(body)?.[1]);
    expect(new Set(processes).size).toBe(2);
    const { body } = await deployment.get(gateway, '/api/why/message?message=last');
    const told = JSON.parse(body);
    expect(told.timeline.verdict).toBe('Answered.');
    const metrics = await deployment.get(worker, '/metrics');
    expect(metrics.body).toMatch(/^parley_model_seconds_count\{outcome="answered"\} 1$/m);
    expect(metrics.body).toMatch(/^parley_processes\{role="worker"\} 1$/m);
    expect((await deployment.get(gateway, '/metrics')).body).toMatch(
      /^parley_outbox_parts_total\{channel="telegram",state="sent"\} 1$/m,
    );
  });
});
