/** A worker of the queue with leases in a process of its own, so that it can be paused between its two steps. */
import { answerQuestions } from '../measure/child.ts';
import { workOnLease } from './lease-queue.ts';

answerQuestions(workOnLease);
