/** A worker of the queue with leases, in its own process so that it can be paused between its two steps. */
import { answerQuestions } from '../measure/child.ts';
import { workOnLease } from './lease-queue.ts';

answerQuestions(workOnLease);
