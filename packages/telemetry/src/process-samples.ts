import { performance } from 'node:perf_hooks';
import type { Sample } from './exposition.ts';

/**
 * The process's own state under the names every Prometheus dashboard knows. Read only when somebody
 * scrapes: no timer runs for it.
 */
export function processSamples(): Sample[] {
  const { user, system } = process.cpuUsage();
  const memory = process.memoryUsage();
  const gauge = (name: string, help: string, value: number): Sample => ({
    name,
    kind: 'gauge',
    help,
    value,
  });
  return [
    {
      name: 'process_cpu_seconds_total',
      kind: 'counter',
      help: 'User and system CPU time spent in seconds.',
      value: (user + system) / 1e6,
    },
    gauge(
      'process_start_time_seconds',
      'Start time of the process since the Unix epoch in seconds.',
      performance.timeOrigin / 1000,
    ),
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', memory.rss),
    gauge('nodejs_heap_size_total_bytes', 'Process heap size in bytes.', memory.heapTotal),
    gauge('nodejs_heap_size_used_bytes', 'Process heap size used in bytes.', memory.heapUsed),
    gauge('nodejs_external_memory_bytes', 'External memory size in bytes.', memory.external),
    gauge(
      'nodejs_eventloop_utilization',
      'Share of time the event loop was busy since the start, 0 to 1.',
      performance.eventLoopUtilization().utilization,
    ),
  ];
}
