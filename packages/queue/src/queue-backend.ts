import type { Logger } from '@parley/core';
import type { IQueueBackend, Processor, Queue, Telemetry, Worker, WorkerOptions } from 'bullmq';
import type { QueueError } from './redis-location.ts';

/** The body of a wake-up: what has work, and nothing else. */
export interface WakeUp {
  readonly key: string;
}

/** The settings of a BullMQ worker that Parley uses; the backend adds its connection. */
export type WorkerTuning = Omit<WorkerOptions<unknown>, 'connection'>;

/** A queue of BullMQ. */
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

/** A worker of BullMQ. */
export type WakeUpConsumer = Pick<
  Worker<WakeUp, unknown, string, IQueueBackend>,
  'on' | 'waitUntilReady' | 'pause' | 'resume' | 'cancelAllJobs' | 'close'
>;

/** Runs a job. */
export type WakeUpProcess = Processor<WakeUp>;

/** BullMQ bound to one data store. */
export interface QueueBackend {
  newQueue(name: string): WakeUpJobs;
  newWorker(name: string, process: WakeUpProcess, tuning: WorkerTuning): WakeUpConsumer;
  /** Keeps the highest number that any process has named under this name, and returns it. */
  remember(name: string, number: number): Promise<number>;
  /** Logs what went wrong in a queue or with its connection, and its consequence; returns the error. */
  failed(error: unknown, message: string, facts?: { readonly key: string }): QueueError;
  /** Writes something small; rejects when that is not possible. */
  check(): Promise<void>;
  close(): void;
}

/** The log, and traces for OpenTelemetry where they are on. */
export interface BackendOptions {
  readonly log: Logger;
  readonly telemetry?: Telemetry | undefined;
}
