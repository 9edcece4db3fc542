import type { Logger } from '@parley/core';
import type { IQueueBackend, Processor, Queue, Telemetry, Worker, WorkerOptions } from 'bullmq';
import type { QueueError } from './redis-location.ts';

/** The payload of a wake-up: only the key that has work. */
export interface WakeUp {
  readonly key: string;
}

/** The BullMQ worker settings that Parley uses; the backend adds its own connection. */
export type WorkerTuning = Omit<WorkerOptions<unknown>, 'connection'>;

/** The part of a BullMQ queue that Parley uses. */
export type WakeUpJobs = Pick<
  Queue<WakeUp, unknown, string, WakeUp, unknown, string, IQueueBackend>,
  | 'add'
  | 'on'
  | 'getDeduplicationJobId'
  | 'getJobState'
  | 'getJob'
  | 'removeDeduplicationKey'
  | 'getJobCounts'
  | 'close'
>;

/** The part of a BullMQ worker that Parley uses. */
export type WakeUpConsumer = Pick<
  Worker<WakeUp, unknown, string, IQueueBackend>,
  'on' | 'waitUntilReady' | 'pause' | 'resume' | 'cancelAllJobs' | 'close'
>;

export type WakeUpProcessor = Processor<WakeUp>;

/** BullMQ bound to one data store. */
export interface QueueBackend {
  newQueue(name: string): WakeUpJobs;
  newWorker(name: string, process: WakeUpProcessor, tuning: WorkerTuning): WakeUpConsumer;
  /** Stores the highest number that any process has passed under this name, and returns it. */
  remember(name: string, number: number): Promise<number>;
  /**
   * Logs a failure of the queue or its connection together with its consequence, and returns the
   * error.
   */
  failed(error: unknown, message: string, facts?: { readonly key: string }): QueueError;
  /** Writes a small value; rejects if nothing can be written. */
  check(): Promise<void>;
  close(): void;
}

/** The logger, and OpenTelemetry tracing if it is enabled. */
export interface BackendOptions {
  readonly log: Logger;
  readonly telemetry?: Telemetry | undefined;
}
