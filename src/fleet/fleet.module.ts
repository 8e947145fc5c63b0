import { Module } from '@nestjs/common';
import { FleetView } from './fleet-view.js';

@Module({ providers: [FleetView], exports: [FleetView] })
export class FleetModule {}
